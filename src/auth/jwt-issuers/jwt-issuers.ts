import type { Clock } from '../../std/clock.js';
import { sleep } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { sharedAbort } from '../../std/shared-abort.js';
import type { AuthenticationResult } from '../authenticator.js';
import type { IssuerSource, JwtConfiguration } from '../configuration/jwt-configuration.js';
import { readJwt, type Jwt } from '../jwt.js';
import { IssuerKeys } from './issuer-keys.js';
import { JwtIssuer } from './jwt-issuer.js';
import type { JwtMeters } from './jwt-meters.js';
import { Rejection } from './rejection.js';
import { RejectionLog } from './rejection-log.js';

/** Longer tokens are of no issuer. HTTP/2 has the same limit on a header field. */
const jwtLengthMax = 64 * 1024;
/** Time in which the new issuers of a changed configuration must be available, as in kube-apiserver. */
const readyTimeoutMs = 60_000;
/** Time after which replaced keys are closed, so that tokens that are being verified with them are finished. */
const closeDelayMs = 60_000;

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: JwtMeters;
  /** Domain of the key of token ids in `extra`: `kubernetes.io`. */
  readonly labelDomain: string;
}

/** Parts of the configuration file that are used here. */
interface Configured {
  readonly jwt: readonly JwtConfiguration[];
  /** The text of the file; undefined if flags are the configuration. */
  readonly text: string | undefined;
}

type Issuers = ReadonlyMap<string, JwtIssuer>;

/** Authenticates the tokens of all configured issuers. */
export class JwtIssuers {
  private issuers: Issuers = new Map();
  /** Connection settings of the keys in use and of those that a pending change waits for. */
  private readonly sources = new Map<IssuerKeys, IssuerSource>();
  private pending: AbortController | undefined;
  /** Replaced keys that will be closed soon. */
  private readonly replaced = new Set<IssuerKeys>();
  private readonly stopped = sharedAbort();
  private readonly rejections: RejectionLog;

  constructor(private readonly dependencies: Dependencies) {
    this.rejections = new RejectionLog(dependencies);
  }

  /** Uses a configuration at once. Tokens of its issuers are rejected until their keys have been fetched. */
  start({ jwt, text }: Configured): void {
    this.use(this.issuersOf(jwt));
    if (text !== undefined) this.dependencies.meters.configurationUsed(text);
  }

  /** Uses a changed configuration once its new issuers are available; until then the previous one stays in use. */
  change({ jwt, text }: Configured): void {
    this.pending?.abort();
    const pending = (this.pending = sharedAbort());
    const next = this.issuersOf(jwt);
    const { meters } = this.dependencies;
    const apply = () => {
      if (pending.signal.aborted || this.stopped.signal.aborted) return;
      pending.abort();
      this.use(next);
      meters.configurationReloaded('success');
      if (text !== undefined) meters.configurationUsed(text);
    };
    this.closeUnused(this.issuers, next);
    const known = keysIn(this.issuers);
    const waiting = new Map([...next].filter(([, { keys }]) => !keys.isReady && !known.has(keys)));
    if (waiting.size === 0) return apply();
    void Promise.all([...waiting.values()].map(({ keys }) => keys.ready)).then(apply);
    void this.complainUntil(pending.signal, waiting);
  }

  /** Counts and logs a change that waits for new issuers, after each minute. */
  private async complainUntil(signal: AbortSignal, waiting: Issuers): Promise<void> {
    const { clock, logger, meters } = this.dependencies;
    while (!signal.aborted) {
      await sleep(clock, readyTimeoutMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      meters.configurationReloaded('failure');
      const issuers = [...waiting].flatMap(([url, { keys }]) => (keys.isReady ? [] : [url]));
      logger.error(
        'the changed authentication configuration waits for the keys of new issuers, check their servers; the old one stays in use',
        {
          issuers,
        },
      );
    }
  }

  /** Returns the result for a token; undefined if no issuer is named in it. */
  authenticate(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    const { issuers } = this;
    if (issuers.size === 0) return undefined;
    if (token.length > jwtLengthMax) return undefined;
    const jwt = readJwt(token);
    const url = jwt && issuerOf(jwt);
    const issuer = url === undefined ? undefined : issuers.get(url);
    return issuer && this.verify(jwt!, issuer, url!, issuers);
  }

  close(): void {
    this.stopped.abort(new Error('the server is stopping'));
    this.pending?.abort();
    for (const keys of [...this.sources.keys(), ...this.replaced]) keys.close();
    this.sources.clear();
  }

  private async verify(jwt: Jwt, issuer: JwtIssuer, url: string, issuers: Issuers): Promise<AuthenticationResult> {
    const { meters, clock } = this.dependencies;
    const beginMs = meters.nowMs;
    const verdict = await issuer.authenticate(jwt);
    if (verdict instanceof Rejection) {
      meters.tokenChecked(url, 'failure', beginMs);
      this.rejections.log(url, verdict);
      return { rejected: `oidc: ${verdict.reason}${verdict.detail === '' ? '' : `: ${verdict.detail}`}` };
    }
    meters.tokenChecked(url, 'success', beginMs);
    const { user, expiresAtMs } = verdict;
    // Remembered results end with the configuration that they were computed with.
    return { user, isStillValid: () => this.issuers === issuers && clock.now() < expiresAtMs };
  }

  private issuersOf(jwt: readonly JwtConfiguration[]): Issuers {
    const { clock, labelDomain } = this.dependencies;
    const credentialIdKey = `authentication.${labelDomain}/credential-id`;
    return new Map(
      jwt.map((configuration) => {
        const keys = this.keysOf(configuration.issuer);
        return [configuration.issuer.url, new JwtIssuer({ configuration, keys, clock, credentialIdKey })];
      }),
    );
  }

  /** Returns the known keys of an issuer whose connection settings are unchanged, or begins to fetch them. */
  private keysOf(source: IssuerSource): IssuerKeys {
    for (const [keys, known] of this.sources) if (areEqual(known, source)) return keys;
    const keys = new IssuerKeys({ ...this.dependencies, source });
    this.sources.set(keys, source);
    return keys;
  }

  private use(next: Issuers): void {
    const { clock, meters } = this.dependencies;
    const previous = this.issuers;
    this.issuers = next;
    for (const url of previous.keys()) {
      if (next.has(url)) continue;
      meters.issuerRemoved(url);
      this.rejections.forget(url);
    }
    const nextKeys = keysIn(next);
    for (const keys of keysIn(previous)) {
      if (nextKeys.has(keys)) continue;
      this.sources.delete(keys);
      this.replaced.add(keys);
      clock.after(closeDelayMs, () => {
        this.replaced.delete(keys);
        keys.close();
      });
    }
    this.closeUnused(next);
  }

  /** Closes keys of earlier changes that were replaced before they were used. */
  private closeUnused(...used: readonly Issuers[]): void {
    for (const keys of [...this.sources.keys()]) {
      if (used.some((issuers) => keysIn(issuers).has(keys))) continue;
      this.sources.delete(keys);
      keys.close();
    }
  }
}

const keysIn = (issuers: Issuers): ReadonlySet<IssuerKeys> => new Set(Array.from(issuers.values(), ({ keys }) => keys));

const areEqual = (one: IssuerSource, other: IssuerSource): boolean =>
  one.url === other.url &&
  one.discoveryUrl === other.discoveryUrl &&
  one.certificateAuthority === other.certificateAuthority;

/** Google omits the scheme in some tokens (OpenID Connect Core 1.0, section 15.6.2). */
function issuerOf({ payload: { iss } }: Jwt): string | undefined {
  if (iss === 'accounts.google.com') return 'https://accounts.google.com';
  return typeof iss === 'string' ? iss : undefined;
}
