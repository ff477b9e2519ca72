// A certificate that signs itself.
#include "support/self_signed.hpp"

namespace rowlock::tests {

self_signed::self_signed(const std::string& names) {
  run_to_the_end(folder_.in_it({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
                                "2", "-subj", "/CN=rowlock", "-addext", "subjectAltName=" + names,
                                "-keyout", key(), "-out", certificate()}));
}

}  // namespace rowlock::tests
