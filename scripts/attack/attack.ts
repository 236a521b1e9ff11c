import type { SeededRng } from '../../src/std/rng.js';
import type { HostileWebhook } from './hostile-webhook.js';

/** A request of an attack. */
export interface HostileRequest {
  /** Description of the attack in the report, after method, path and size. */
  readonly about: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as it is. */
  readonly body?: Buffer;
  /** The user whose credentials are sent; the administrator by default. */
  readonly as?: UserName | 'nobody';
  /** Closes a stream such as a watch after this time. */
  readonly cutAfterMs?: number;
  /** Documented 5xx answers. */
  readonly mayFailWith?: readonly number[];
  /** If set, only answers that contain this text are documented. */
  readonly failureText?: string;
  /** Returns the problem of an answer that is not as documented. */
  readonly problemOf?: (answer: HostileAnswer) => string | undefined;
}

/**
 * `user` may do everything by RBAC rules, not by being in system:masters, so that escalation is checked. `poor` may
 * read and write roles and bindings, and holds none of the rights in them.
 */
export type UserName = 'admin' | 'user' | 'poor';

export interface HostileAnswer {
  /** 0: the connection was closed without an answer; -1: no answer in time. */
  readonly code: number;
  readonly bytes: Buffer;
}

/** Yields a request, or several that are sent at once and measured as one, and receives the answer, or the last one. */
export type Requests = Generator<HostileRequest | readonly HostileRequest[], void, HostileAnswer>;

/** Context of a family's requests. */
export interface AttackPlan {
  readonly rng: SeededRng;
  /** True for a fixed selection that takes seconds. */
  readonly isShort: boolean;
  /** 0 in the first pass; object names and the random seed depend on it. */
  readonly round: number;
  /** A webhook that the server under attack can call. */
  readonly webhook: HostileWebhook;
}

export interface Family {
  readonly name: string;
  requests(plan: AttackPlan): Requests;
}

/** The limit on request bodies, and a value just below it. */
export const bodyBytesMax = 3 * 1024 * 1024;
export const fillBytes = bodyBytesMax - 4096;
