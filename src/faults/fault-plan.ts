import { parseYamlMapping } from '../config/config-files.js';
import { parseDuration } from '../config/duration.js';

/** Which requests a rule applies to. Absent lists match everything; `*` at the end of a text stands for any rest. */
export interface FaultMatch {
  readonly users?: readonly string[];
  readonly userAgents?: readonly string[];
  /** get, list, watch, create, update, patch, delete, deletecollection */
  readonly verbs?: readonly string[];
  /** `pods`, `deployments.apps`, `deployments.apps/status` */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
}

/** Exactly one of the fields is set, latencyMs perhaps beside another. */
export interface Fault {
  /** The request is answered with this error and not executed. */
  readonly status?: number;
  /** The request waits before it is executed. */
  readonly latencyMs?: number;
  /** The request is executed, and its connection is closed instead of an answer. */
  readonly dropAnswer?: true;
  /** The connection of the watch is closed after this time. */
  readonly endWatchAfterMs?: number;
  /** The watch stays open and gets no more events after this time. */
  readonly stallWatchAfterMs?: number;
  /** Lists that accept any state (resourceVersion=0) get the one this many revisions ago, if it is still in memory. */
  readonly staleRevisions?: number;
}

export interface FaultRule {
  readonly name: string;
  readonly match: FaultMatch;
  /** Of each matching request, from 0 to 1. */
  readonly probability: number;
  /** Matching requests that pass first. */
  readonly skip: number;
  /** Faults after which the rule rests. */
  readonly limit: number;
  readonly fault: Fault;
}

export interface FaultPlan {
  /** Equal seeds choose equal requests, counted for each rule. */
  readonly seed: number;
  /** Shifts the clock of the server, such as for ages, expiry of tokens and leases. */
  readonly clockOffsetMs: number;
  readonly rules: readonly FaultRule[];
}

export const noFaults: FaultPlan = { seed: 0, clockOffsetMs: 0, rules: [] };

/** Names the field that is wrong. */
export class FaultPlanError extends Error {
  override readonly name = 'FaultPlanError';
}

const rulesMax = 1_000;
const textsMax = 1_000;
const statuses = [400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 502, 503, 504];
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** Reads a plan in YAML or JSON. Throws FaultPlanError. */
export function parseFaultPlan(text: string): FaultPlan {
  let document: Readonly<Record<string, unknown>>;
  try {
    document = parseYamlMapping(text);
  } catch (error) {
    throw new FaultPlanError(error instanceof Error ? error.message : String(error));
  }
  const fields = new Fields(document, '', ['seed', 'clockOffset', 'rules']);
  const rules = fields.list('rules').map((rule, index) => ruleOf(rule, `rules[${index}]`));
  if (rules.length > rulesMax) throw new FaultPlanError(`rules: at most ${rulesMax}`);
  const names = new Set(rules.map(({ name }) => name));
  if (names.size < rules.length) throw new FaultPlanError('rules: give each rule a name of its own');
  return { seed: fields.natural('seed') ?? 0, clockOffsetMs: fields.duration('clockOffset', true) ?? 0, rules };
}

/** Reads one fault, as in the header of a request: `{status: 409}`. Throws FaultPlanError. */
export function parseFault(text: string): Fault {
  try {
    return faultOf(parseYamlMapping(text), '');
  } catch (error) {
    if (error instanceof FaultPlanError) throw error;
    throw new FaultPlanError(error instanceof Error ? error.message : String(error));
  }
}

function ruleOf(value: unknown, path: string): FaultRule {
  const fields = new Fields(value, path, ['name', 'match', 'probability', 'skip', 'limit', 'fault']);
  const probability = fields.number('probability') ?? 1;
  if (!(probability >= 0 && probability <= 1)) throw new FaultPlanError(`${path}.probability: from 0 to 1`);
  return {
    name: fields.text('name') ?? path,
    match: matchOf(fields.get('match') ?? {}, `${path}.match`),
    probability,
    skip: fields.natural('skip') ?? 0,
    limit: fields.natural('limit') ?? Infinity,
    fault: faultOf(fields.get('fault'), `${path}.fault`),
  };
}

function matchOf(value: unknown, path: string): FaultMatch {
  const keys = ['users', 'userAgents', 'verbs', 'resources', 'namespaces', 'names'] as const;
  const fields = new Fields(value, path, keys);
  const match: { [Key in (typeof keys)[number]]?: readonly string[] } = {};
  for (const key of keys) {
    const texts = fields.texts(key);
    if (texts) match[key] = texts;
  }
  const unknown = match.verbs?.find((verb) => !verbs.includes(verb));
  if (unknown !== undefined) throw new FaultPlanError(`${path}.verbs: ${unknown} is none of ${verbs.join(', ')}`);
  return match;
}

function faultOf(value: unknown, path: string): Fault {
  const known = ['status', 'latency', 'dropAnswer', 'endWatchAfter', 'stallWatchAfter', 'staleRevisions'] as const;
  const fields = new Fields(value, path, known);
  const status = fields.natural('status');
  if (status !== undefined && !statuses.includes(status)) {
    throw new FaultPlanError(`${at(path, 'status')}: one of ${statuses.join(', ')}`);
  }
  const dropAnswer = fields.get('dropAnswer');
  if (dropAnswer !== undefined && dropAnswer !== true) throw new FaultPlanError(`${at(path, 'dropAnswer')}: true`);
  const others = known.filter((key) => key !== 'latency' && fields.get(key) !== undefined);
  const latencyMs = fields.duration('latency');
  if (others.length > 1 || (others.length === 0 && latencyMs === undefined)) {
    throw new FaultPlanError(
      `${path === '' ? 'the fault' : path}: give latency, and at most one of ${known.join(', ')}`,
    );
  }
  const endWatchAfterMs = fields.duration('endWatchAfter');
  const stallWatchAfterMs = fields.duration('stallWatchAfter');
  const staleRevisions = fields.natural('staleRevisions');
  return {
    ...(status !== undefined && { status }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(dropAnswer === true && { dropAnswer }),
    ...(endWatchAfterMs !== undefined && { endWatchAfterMs }),
    ...(stallWatchAfterMs !== undefined && { stallWatchAfterMs }),
    ...(staleRevisions !== undefined && { staleRevisions }),
  };
}

const at = (path: string, key: string) => (path === '' ? key : `${path}.${key}`);

/** The fields of a mapping, checked. */
class Fields {
  private readonly mapping: ReadonlyMap<string, unknown>;

  constructor(
    value: unknown,
    private readonly path: string,
    known: readonly string[],
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new FaultPlanError(`${path === '' ? 'the plan' : path}: a mapping`);
    }
    this.mapping = new Map(Object.entries(value));
    for (const key of this.mapping.keys()) {
      if (!known.includes(key)) throw new FaultPlanError(`${at(path, key)}: not known; one of ${known.join(', ')}`);
    }
  }

  get(key: string): unknown {
    return this.mapping.get(key) ?? undefined;
  }

  text(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw new FaultPlanError(`${at(this.path, key)}: a text`);
  }

  number(key: string): number | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'number') return value;
    throw new FaultPlanError(`${at(this.path, key)}: a number`);
  }

  natural(key: string): number | undefined {
    const value = this.get(key);
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0))
      return value as number | undefined;
    throw new FaultPlanError(`${at(this.path, key)}: a whole number, not negative`);
  }

  /** `200ms`, `1h30m`; with `isSigned` also `-5m`. */
  duration(key: string, isSigned = false): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const ms = typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : undefined;
    if (ms !== undefined && (isSigned || ms >= 0)) return ms;
    throw new FaultPlanError(`${at(this.path, key)}: a duration such as 200ms or 5m`);
  }

  list(key: string): readonly unknown[] {
    const value = this.get(key) ?? [];
    if (Array.isArray(value)) return value;
    throw new FaultPlanError(`${at(this.path, key)}: a list`);
  }

  texts(key: string): readonly string[] | undefined {
    if (this.get(key) === undefined) return undefined;
    const texts = this.list(key);
    if (texts.length <= textsMax && texts.every((text) => typeof text === 'string')) return texts;
    throw new FaultPlanError(`${at(this.path, key)}: a list of at most ${textsMax} texts`);
  }
}
