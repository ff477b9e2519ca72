"""rowlock for Conan 2: conan create packaging/conan, in a checkout."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

# Of each component: what it requires, and the targets of that.
COMPONENTS = {
    "asio": {"asio/[>=1.20 <2]": "asio::asio"},
    "postgres": {"libpqxx/[>=7.7 <7.11]": "libpqxx::libpqxx", "libpq/[>=13 <18]": "libpq::libpq"},
    "prometheus": {"prometheus-cpp/[>=1.0 <2]": "prometheus-cpp::prometheus-cpp-core"},
    "sqlite": {"sqlitecpp/[>=3.2 <4]": "sqlitecpp::sqlitecpp", "sqlite3/[>=3.37 <4]": "sqlite3::sqlite3"},
}
# Those whose headers include what they require: a program that uses rowlock sees that, too.
PUBLIC = ("asio", "prometheus")


class Rowlock(ConanFile):
    name = "rowlock"
    description = "Locks that are rows in the application's SQL database"
    license = "MIT"
    topics = ("lock", "lease", "postgresql", "sqlite")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False],
               **{component: [True, False] for component in COMPONENTS}}
    default_options = {"shared": False, "fPIC": True, "asio": False, "prometheus": False,
                       "postgres": True, "sqlite": True}
    implements = ["auto_shared_fpic"]

    @property
    def _chosen(self):
        return [component for component in COMPONENTS if self.options.get_safe(component)]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"^  VERSION ([0-9.]+)$", text, re.MULTILINE).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "migrations/*", "src/*",
                        "tests/conformance/*", "tests/support/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("rowlock runs on Linux: its deadlines are on CLOCK_BOOTTIME")
        check_min_cppstd(self, 20)

    def requirements(self):
        for component in self._chosen:
            public = component in PUBLIC or None  # None: Conan decides by the package types
            for required in COMPONENTS[component]:
                self.requires(required, transitive_headers=public, transitive_libs=public)

    def generate(self):
        deps = CMakeDeps(self)
        # As cmake/FindAsio.cmake names it, instead of which the file of Conan is found.
        deps.set_property("asio", "cmake_file_name", "Asio")
        deps.set_property("asio", "cmake_target_name", "Asio::asio")
        deps.generate()
        toolchain = CMakeToolchain(self)
        for component in (*COMPONENTS, "soci"):
            toolchain.cache_variables["ROWLOCK_" + component.upper()] = component in self._chosen
        for part in ("CLI", "WEB", "TESTS", "BENCH", "EXAMPLES"):
            toolchain.cache_variables["ROWLOCK_" + part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "rowlock")
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "rowlock::core")
        core.libs = ["rowlock"]
        core.system_libs = ["pthread"]
        for component in ("testing", *self._chosen):
            info = self.cpp_info.components[component]
            info.set_property("cmake_target_name", "rowlock::" + component)
            info.requires = ["core", *COMPONENTS.get(component, {}).values()]
            if component != "asio":
                info.libs = ["rowlock_" + component]
