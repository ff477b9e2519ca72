import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;

/**
 * ShedLock's own JdbcLockProvider with a pool of HikariCP, with the database's time. Takes the
 * arguments of rowlock_race that its scenarios use, and prints its result in the same way.
 */
public final class ShedLockRace {
  private enum Stage { WARMING, MEASURING, OVER }

  private static final Duration TTL = Duration.ofSeconds(60);

  private static volatile Stage stage = Stage.WARMING;

  /** What one thread has seen. */
  private static final class Tally {
    final List<Long> times = new ArrayList<>();
  }

  private static Map<String, String> parsed(String[] arguments) {
    final Map<String, String> options = new HashMap<>();
    for (int i = 0; i + 1 < arguments.length; i += 2) options.put(arguments[i], arguments[i + 1]);
    return options;
  }

  private static HikariDataSource pool(int connections) {
    final URI server = URI.create(System.getenv("ROWLOCK_TEST_POSTGRES"));
    final HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl("jdbc:postgresql://" + server.getHost() + ":" + server.getPort() + server.getPath());
    pool.setUsername(server.getUserInfo());
    pool.setMaximumPoolSize(connections);
    pool.setMinimumIdle(connections);
    return pool;
  }

  private static void execute(HikariDataSource pool, String sql) throws Exception {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Optional<SimpleLock> lock(LockProvider provider, String name) {
    return provider.lock(new LockConfiguration(Instant.now(), name, TTL, Duration.ZERO));
  }

  private static Tally race(LockProvider provider, String name, boolean isRefused) {
    final Tally tally = new Tally();
    while (stage != Stage.OVER) {
      final boolean counts = stage == Stage.MEASURING;
      final long begun = System.nanoTime();
      final Optional<SimpleLock> taken = lock(provider, name);
      if (taken.isPresent() == isRefused) throw new IllegalStateException("not as it has to be: " + name);
      taken.ifPresent(SimpleLock::unlock);
      final long took = System.nanoTime() - begun;
      if (counts && stage == Stage.MEASURING) tally.times.add(took);
    }
    return tally;
  }

  /** Does not outlive a failure of the main thread. */
  private static Thread daemon(Runnable work) {
    final Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  private static double microseconds(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) (share * (sorted.length - 1))] / 1000.0;
  }

  public static void main(String[] arguments) throws Exception {
    final Map<String, String> options = parsed(arguments);
    final int threads = Integer.parseInt(options.getOrDefault("--threads", "1"));
    final int given = Integer.parseInt(options.getOrDefault("--connections", "0"));
    final long warmUp = Long.parseLong(options.getOrDefault("--warm-up-ms", "300"));
    final long length = Long.parseLong(options.getOrDefault("--length-ms", "2000"));
    final boolean isRefused = "refused".equals(options.get("--act"));

    try (HikariDataSource pool = pool(given == 0 ? threads : given)) {
      execute(pool, "DROP TABLE IF EXISTS shedlock");
      execute(pool, "CREATE TABLE shedlock (name varchar(64) NOT NULL PRIMARY KEY, lock_until timestamp NOT NULL, "
          + "locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL)");
      final LockProvider provider =
          new JdbcLockProvider(JdbcLockProvider.Configuration.builder(pool).usingDbTime().build());
      final Optional<SimpleLock> held = isRefused ? lock(provider, "hot") : Optional.empty();

      final ExecutorService running = Executors.newFixedThreadPool(threads, ShedLockRace::daemon);
      final List<Future<Tally>> racing = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        final String name = isRefused ? "hot" : "own:" + i;
        racing.add(running.submit(() -> race(provider, name, isRefused)));
      }
      Thread.sleep(warmUp);
      execute(pool, "VACUUM ANALYZE shedlock");
      Thread.sleep(warmUp);
      final long begun = System.nanoTime();
      stage = Stage.MEASURING;
      Thread.sleep(length);
      final double seconds = (System.nanoTime() - begun) / 1e9;
      stage = Stage.OVER;
      LongStream all = LongStream.empty();
      for (final Future<Tally> each : racing) {
        all = LongStream.concat(all, each.get().times.stream().mapToLong(Long::longValue));
      }
      held.ifPresent(SimpleLock::unlock);
      execute(pool, "DROP TABLE shedlock");

      final long[] times = all.toArray();
      Arrays.sort(times);
      System.out.printf(Locale.ROOT,
          "{\"threads\": %d, \"seconds\": %.3f, \"per_second\": %.3f, \"p50\": %.3f, \"p99\": %.3f, \"p999\": %.3f}%n",
          threads, seconds, times.length / seconds, microseconds(times, 0.5), microseconds(times, 0.99),
          microseconds(times, 0.999));
    }
  }
}
