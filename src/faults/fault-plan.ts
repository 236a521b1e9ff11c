import { parseYamlMapping } from '../config/config-files.js';
import { at, FaultPlanError, Fields } from './plan-fields.js';
import { webhookFaultOf, webhookMatchOf, type WebhookFault, type WebhookMatch } from './webhook-fault.js';

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
  /** The watch ends with an ERROR event of the code 410 after this time. */
  readonly expireWatchAfterMs?: number;
  /** The watch stays open and gets no more events after this time. */
  readonly stallWatchAfterMs?: number;
  /** Lists that accept any state (resourceVersion=0) get the one this many revisions ago, if it is still in memory. */
  readonly staleRevisions?: number;
}

interface RuleSettings {
  readonly name: string;
  /** Of each matching request or call, from 0 to 1. */
  readonly probability: number;
  /** Matching requests or calls that pass first. */
  readonly skip: number;
  /** Faults after which the rule rests. */
  readonly limit: number;
}

export interface RequestRule extends RuleSettings {
  readonly match: FaultMatch;
  readonly fault: Fault;
}

/** A rule for calls of webhooks, which the server sends. */
export interface WebhookRule extends RuleSettings {
  readonly webhooks: WebhookMatch;
  readonly fault: WebhookFault;
}

export type FaultRule = RequestRule | WebhookRule;

export interface FaultPlan {
  /** Equal seeds choose equal requests, counted for each rule. */
  readonly seed: number;
  /** Shifts the clock of the server, such as for ages, expiry of tokens and leases. */
  readonly clockOffsetMs: number;
  readonly rules: readonly FaultRule[];
}

export const noFaults: FaultPlan = { seed: 0, clockOffsetMs: 0, rules: [] };

const rulesMax = 1_000;
/** Each request may be compared with all of them. */
const patternsMax = 10_000;
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
  if (sum(rules.map(patternsOf)) > patternsMax)
    throw new FaultPlanError(`rules: at most ${patternsMax} texts to match`);
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

function patternsOf(rule: FaultRule): number {
  const lists: Readonly<Record<string, readonly string[]>> = { ...('webhooks' in rule ? rule.webhooks : rule.match) };
  return sum(Object.values(lists).map(({ length }) => length));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function ruleOf(value: unknown, path: string): FaultRule {
  const fields = new Fields(value, path, ['name', 'match', 'webhooks', 'probability', 'skip', 'limit', 'fault']);
  const probability = fields.number('probability') ?? 1;
  if (!(probability >= 0 && probability <= 1)) throw new FaultPlanError(`${path}.probability: from 0 to 1`);
  const settings = {
    name: fields.text('name') ?? path,
    probability,
    skip: fields.natural('skip') ?? 0,
    limit: fields.natural('limit') ?? Infinity,
  };
  const [match, webhooks, fault] = [fields.get('match'), fields.get('webhooks'), fields.get('fault')];
  if (webhooks === undefined) {
    return {
      ...settings,
      match: matchOf(match ?? {}, `${path}.match`),
      fault: faultOf(fault, `${path}.fault`),
    };
  }
  if (match !== undefined) throw new FaultPlanError(`${path}: give match for requests, or webhooks for calls of them`);
  const matched = webhookMatchOf(webhooks, `${path}.webhooks`);
  return { ...settings, webhooks: matched, fault: webhookFaultOf(fault, `${path}.fault`, matched) };
}

function matchOf(value: unknown, path: string): FaultMatch {
  const keys = ['users', 'userAgents', 'verbs', 'resources', 'namespaces', 'names'] as const;
  const match = new Fields(value, path, keys).textLists(keys);
  const unknown = match.verbs?.find((verb) => !verbs.includes(verb));
  if (unknown !== undefined) throw new FaultPlanError(`${path}.verbs: ${unknown} is none of ${verbs.join(', ')}`);
  return match;
}

function faultOf(value: unknown, path: string): Fault {
  const known = [
    'status',
    'latency',
    'dropAnswer',
    'endWatchAfter',
    'expireWatchAfter',
    'stallWatchAfter',
    'staleRevisions',
  ] as const;
  const fields = new Fields(value, path, known);
  const status = fields.natural('status');
  if (status !== undefined && !statuses.includes(status)) {
    throw new FaultPlanError(`${at(path, 'status')}: one of ${statuses.join(', ')}`);
  }
  const dropAnswer = fields.get('dropAnswer');
  if (dropAnswer !== undefined) fields.mustBeTrue('dropAnswer');
  const others = known.filter((key) => key !== 'latency' && fields.get(key) !== undefined);
  const latencyMs = fields.duration('latency');
  if (others.length > 1 || (others.length === 0 && latencyMs === undefined)) {
    throw new FaultPlanError(
      `${path === '' ? 'the fault' : path}: give latency, and at most one of ${known.join(', ')}`,
    );
  }
  const endWatchAfterMs = fields.duration('endWatchAfter');
  const expireWatchAfterMs = fields.duration('expireWatchAfter');
  const stallWatchAfterMs = fields.duration('stallWatchAfter');
  const staleRevisions = fields.natural('staleRevisions');
  return {
    ...(status !== undefined && { status }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(dropAnswer === true && { dropAnswer }),
    ...(endWatchAfterMs !== undefined && { endWatchAfterMs }),
    ...(expireWatchAfterMs !== undefined && { expireWatchAfterMs }),
    ...(stallWatchAfterMs !== undefined && { stallWatchAfterMs }),
    ...(staleRevisions !== undefined && { staleRevisions }),
  };
}
