import type { SeededRng } from '../../src/std/rng.js';

/** One request of an attack. */
export interface HostileRequest {
  /** The hostile part, for the report; method, path and size are added. */
  readonly about: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as it is. */
  readonly body?: Buffer;
  /** The user whose credentials it carries; the administrator by default. */
  readonly as?: UserName | 'nobody';
  /** Cuts a stream such as a watch after so many ms. */
  readonly cutAfterMs?: number;
  /** A 5xx that is the documented answer. */
  readonly mayFailWith?: readonly number[];
  /** If set, only answers that contain this text are documented ones. */
  readonly failureText?: string;
}

/**
 * `user` may do everything by rules, not by being in system:masters: escalation is checked for this one. `poor` may read
 * and write roles and bindings, and holds nothing that they could give.
 */
export type UserName = 'admin' | 'user' | 'poor';

export interface HostileAnswer {
  /** 0: the connection was closed without an answer; -1: there was none in time. */
  readonly code: number;
  readonly bytes: Buffer;
}

/** Yields a request, or many that are sent at once and measured as one, and is handed the answer, or the last one. */
export type Requests = Generator<HostileRequest | readonly HostileRequest[], void, HostileAnswer>;

/** The tools that a family makes its requests with. */
export interface AttackPlan {
  readonly rng: SeededRng;
  /** A fixed chosen subset that ends within seconds. */
  readonly isShort: boolean;
  /** 0 in the first pass; names of objects and the seed of the chance differ by it. */
  readonly round: number;
}

export interface Family {
  readonly name: string;
  requests(plan: AttackPlan): Requests;
}

/** The bound on the body of a request, and a little room below it. */
export const bodyBytesMax = 3 * 1024 * 1024;
export const fillBytes = bodyBytesMax - 4096;
