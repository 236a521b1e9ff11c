import { goQuote } from '../machinery/field-error.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';

export const healthEndpoints = ['healthz', 'livez', 'readyz'] as const;
export type HealthEndpoint = (typeof healthEndpoints)[number];

export interface HealthCheck {
  /** May contain slashes: `poststarthook/bootstrap-controller`. */
  readonly name: string;
  readonly endpoints: readonly HealthEndpoint[];
  /** Throws if the check fails. The reason is logged; the report of all checks only says that it is withheld. */
  readonly check: () => Promise<void> | void;
  /** True for a step of the start: /livez counts it as passed during --livez-grace-period. */
  readonly isBootStep?: boolean;
}

interface HealthReport {
  readonly failed: readonly string[];
  /** One line for each check, as `[+]ping ok`, without the summary line. */
  readonly lines: string;
}

/** Counts of the results of a check, for metrics, and its last result. */
interface HealthRecord {
  readonly name: string;
  readonly endpoint: HealthEndpoint;
  passed: number;
  failed: number;
  lastPassed: boolean;
}

/** The checks of one server, in the order in which they were added. */
export class HealthChecks {
  private readonly checks: HealthCheck[] = [];
  private readonly recordsByKey = new Map<string, HealthRecord>();
  private readonly loggedState = new Map<HealthEndpoint, string>();
  private readonly startMs: number;

  constructor(private readonly dependencies: { clock: Clock; logger: Logger; livezGracePeriodMs: number }) {
    this.startMs = dependencies.clock.monotonicMs();
  }

  add(...checks: readonly HealthCheck[]): void {
    this.checks.push(...checks);
  }

  /** Returns all health paths: `/livez`, `/livez/ping`, … */
  paths(): string[] {
    return healthEndpoints.flatMap((endpoint) => [
      `/${endpoint}`,
      ...this.of(endpoint).map(({ name }) => `/${endpoint}/${name}`),
    ]);
  }

  records(): Iterable<HealthRecord> {
    return this.recordsByKey.values();
  }

  find(endpoint: HealthEndpoint, name: string): HealthCheck | undefined {
    return this.of(endpoint).find((check) => check.name === name);
  }

  /**
   * Runs all checks of an endpoint concurrently. Excluded names that match no check cause a warning line in the report.
   */
  async run(endpoint: HealthEndpoint, excluded: readonly string[]): Promise<HealthReport> {
    const unmatched = new Set(excluded);
    const failed: string[] = [];
    let lines = '';
    const checks = this.of(endpoint);
    const failures = await Promise.all(
      checks.map(async (check) => (excluded.includes(check.name) ? undefined : this.outcome(endpoint, check))),
    );
    for (const [index, { name }] of checks.entries()) {
      unmatched.delete(name);
      if (excluded.includes(name)) lines += `[+]${name} excluded: ok\n`;
      else if (failures[index] === undefined) lines += `[+]${name} ok\n`;
      else {
        lines += `[-]${name} failed: reason withheld\n`;
        failed.push(name);
      }
    }
    if (unmatched.size > 0) {
      const names = [...unmatched].sort().map((name) => goQuote(name));
      lines += `warn: some health checks cannot be excluded: no matches for ${names.join(', ')}\n`;
    }
    this.log(
      endpoint,
      checks.flatMap(({ name }, i) => (failures[i] ? [[name, failures[i].message] as const] : [])),
    );
    return { failed, lines };
  }

  /** Logs when the set of failures changes, not for each request: probes may come many times a second. */
  private log(endpoint: HealthEndpoint, failures: readonly (readonly [name: string, reason: string])[]): void {
    const state = failures.map(([name, reason]) => `${name}: ${reason}\n`).join('');
    if (state === (this.loggedState.get(endpoint) ?? '')) return;
    this.loggedState.set(endpoint, state);
    if (failures.length === 0) this.dependencies.logger.info('health checks pass again', { endpoint });
    else this.dependencies.logger.info('health checks fail', { endpoint, reasons: Object.fromEntries(failures) });
  }

  /** Runs one check, counts its result, and returns the failure, or undefined if it passed. */
  async outcome(endpoint: HealthEndpoint, check: HealthCheck): Promise<Error | undefined> {
    const failure = await this.failureOf(endpoint, check);
    const record = this.recordOf(endpoint, check.name);
    record.lastPassed = failure === undefined;
    if (failure === undefined) record.passed++;
    else record.failed++;
    return failure;
  }

  private async failureOf(endpoint: HealthEndpoint, check: HealthCheck): Promise<Error | undefined> {
    if (endpoint === 'livez' && check.isBootStep && this.isInGracePeriod()) return undefined;
    try {
      await check.check();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private isInGracePeriod(): boolean {
    return this.dependencies.clock.monotonicMs() - this.startMs < this.dependencies.livezGracePeriodMs;
  }

  private of(endpoint: HealthEndpoint): HealthCheck[] {
    return this.checks.filter(({ endpoints }) => endpoints.includes(endpoint));
  }

  private recordOf(endpoint: HealthEndpoint, name: string): HealthRecord {
    const key = `${endpoint}/${name}`;
    let record = this.recordsByKey.get(key);
    if (!record) {
      record = { name, endpoint, passed: 0, failed: 0, lastPassed: false };
      this.recordsByKey.set(key, record);
    }
    return record;
  }
}
