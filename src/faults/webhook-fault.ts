import type { InjectedCall, InjectedDecision, WebhookKind } from '../kubeconfig-client/injected-call.js';
import { at, FaultPlanError, Fields } from './plan-fields.js';

/** Which calls of webhooks a rule applies to. Absent lists match everything; `*` at the end of a text stands for any rest. */
export interface WebhookMatch {
  readonly kinds?: readonly string[];
  /** Names of webhook configurations, CustomResourceDefinitions and authorizers. */
  readonly configurations?: readonly string[];
  /** Names of admission webhooks. */
  readonly names?: readonly string[];
  /** Users of the requests that call the webhooks. */
  readonly users?: readonly string[];
}

/** A decision becomes the answer that this kind of webhook would send. */
type WebhookEffect = NonNullable<InjectedCall['result']> | InjectedDecision;

export interface WebhookFault {
  /** The call waits before it is sent, which is part of its time. */
  readonly latencyMs?: number;
  readonly effect?: WebhookEffect;
}

const kinds: readonly WebhookKind[] = ['mutating', 'validating', 'conversion', 'authentication', 'authorization'];
const admissionKinds: readonly string[] = ['mutating', 'validating'];
/** Kinds whose calls are not those of one user: a token is not authenticated yet, requests share converted objects. */
const kindsWithoutUser: readonly string[] = ['conversion', 'authentication'];
const effects = ['status', 'refuseConnection', 'noAnswer', 'malformedAnswer', 'deny', 'allow'] as const;
const malformedBody = Buffer.from('{"injected by the fault plan');
const noBody = Buffer.alloc(0);
const statusMin = 300;
const statusMax = 599;

export function webhookMatchOf(value: unknown, path: string): WebhookMatch {
  const keys = ['kinds', 'configurations', 'names', 'users'] as const;
  const match = new Fields(value, path, keys).textLists(keys);
  const unknown = match.kinds?.find((kind) => !kinds.some((known) => known === kind));
  if (unknown !== undefined) throw new FaultPlanError(`${path}.kinds: ${unknown} is none of ${kinds.join(', ')}`);
  const userless = match.users && match.kinds?.find((kind) => kindsWithoutUser.includes(kind));
  if (userless !== undefined) throw new FaultPlanError(`${path}.users: calls of the kind ${userless} have no user`);
  return match;
}

export function webhookFaultOf(value: unknown, path: string, match: WebhookMatch): WebhookFault {
  const fields = new Fields(value, path, ['latency', ...effects]);
  const latencyMs = fields.duration('latency');
  const [effect, ...others] = effects.filter((key) => fields.get(key) !== undefined);
  if (others.length > 0 || (!effect && latencyMs === undefined)) {
    throw new FaultPlanError(`${path}: give latency, and at most one of ${effects.join(', ')}`);
  }
  return {
    ...(latencyMs !== undefined && { latencyMs }),
    ...(effect && { effect: effectOf(effect, fields, path, match) }),
  };
}

function effectOf(effect: (typeof effects)[number], fields: Fields, path: string, match: WebhookMatch): WebhookEffect {
  if (effect === 'status') {
    const status = fields.natural('status')!;
    if (status >= statusMin && status <= statusMax) return { status, body: noBody };
    throw new FaultPlanError(`${at(path, 'status')}: from ${statusMin} to ${statusMax}`);
  }
  if (effect === 'deny') return { isAllowed: false, message: fields.text('deny')! };
  fields.mustBeTrue(effect);
  switch (effect) {
    case 'refuseConnection':
      return 'connection refused';
    case 'noAnswer':
      return 'no answer';
    case 'malformedAnswer':
      return { status: 200, body: malformedBody };
    case 'allow':
      // A plan must not give users rights that they do not have.
      if (!match.kinds?.every((kind) => admissionKinds.includes(kind))) {
        throw new FaultPlanError(
          `${at(path, 'allow')}: only for webhooks.kinds [mutating, validating], since faults grant no access`,
        );
      }
      return { isAllowed: true, message: '' };
  }
}
