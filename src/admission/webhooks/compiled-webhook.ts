import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
} from '../../catalog/types/admissionregistration.v1.js';
import { AdmissionCompiler } from '../../expressions/admission-compiler.js';
import { stringifyJson } from '../../codec/json.js';
import { reviewVersions } from '../../machinery/webhook-client.validation.js';
import type { Steps } from '../../std/steps.js';
import type { WebhookAddress, WebhookClient } from '../../webhook-client/webhook-client.js';
import type { PolicyExpression } from '../policies/evaluation.js';
import { RequestMatch } from '../request/request-match.js';

/** A webhook of a configuration, with compiled selectors and matchConditions. */
export interface CompiledWebhook {
  /** Distinct for webhooks of the same name: `configuration/name/index`. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly rules: readonly RuleWithOperations[];
  readonly match: RequestMatch;
  readonly conditions: readonly PolicyExpression[];
  readonly ignoresErrors: boolean;
  readonly timeoutSeconds: number;
  /** True if a dry run may call the webhook; undefined if sideEffects is not set. */
  readonly allowsDryRun: boolean | undefined;
  /** Version of AdmissionReview; undefined if the webhook accepts none that this server sends. */
  readonly reviewVersion: string | undefined;
  /** True if the webhook is called again after changes by later plug-ins. */
  readonly isReinvoked: boolean;
  /** The annotation of the audit log after a call, by whether it has changed the object. */
  readonly callAnnotations: { readonly changed: string; readonly unchanged: string };
  /** The client, or the reason why there is none. */
  readonly client: WebhookClient | string;
}

const timeoutSecondsDefault = 10;
const timeoutSecondsMax = 30;
const harmless: readonly string[] = ['None', 'NoneOnDryRun'];

/** Compiles a stored configuration. Its expressions may use everything that any release has. */
export function* compileWebhooks(
  { metadata, webhooks = [] }: MutatingWebhookConfiguration,
  clientOf: (address: WebhookAddress) => WebhookClient,
): Steps<CompiledWebhook[]> {
  const compiler = new AdmissionCompiler({ hasParams: false, hasVariables: false });
  const configuration = metadata.name ?? '';
  const compiled: CompiledWebhook[] = [];
  for (const [index, webhook] of webhooks.entries()) {
    yield;
    const conditions: PolicyExpression[] = [];
    for (const { expression = '' } of webhook.matchConditions ?? []) {
      yield;
      const condition = yield* compiler.compile('matchCondition', expression, 'stored');
      conditions.push({ text: expression, compiled: condition });
    }
    compiled.push({ ...settingsOf(configuration, webhook, index), conditions, client: clientFor(webhook, clientOf) });
  }
  return compiled;
}

function settingsOf(configuration: string, webhook: MutatingWebhook, index: number) {
  const {
    name = '',
    rules = [],
    timeoutSeconds,
    sideEffects,
    namespaceSelector,
    objectSelector,
    matchPolicy,
  } = webhook;
  return {
    id: `${configuration}/${name}/${index}`,
    configuration,
    name,
    rules,
    match: new RequestMatch({
      resourceRules: rules,
      matchPolicy,
      ...(namespaceSelector && { namespaceSelector }),
      ...(objectSelector && { objectSelector }),
    }),
    ignoresErrors: webhook.failurePolicy === 'Ignore',
    timeoutSeconds: Math.min(timeoutSeconds ?? timeoutSecondsDefault, timeoutSecondsMax),
    allowsDryRun: sideEffects === undefined || sideEffects === null ? undefined : harmless.includes(sideEffects),
    reviewVersion: (webhook.admissionReviewVersions ?? []).find((version) => reviewVersions.includes(version)),
    isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
    callAnnotations: {
      changed: stringifyJson({ configuration, webhook: name, mutated: true }),
      unchanged: stringifyJson({ configuration, webhook: name, mutated: false }),
    },
  };
}

function clientFor(
  { clientConfig = {} }: MutatingWebhook,
  clientOf: (address: WebhookAddress) => WebhookClient,
): WebhookClient | string {
  try {
    return clientOf(clientConfig);
  } catch {
    // Another server may have stored what this one does not accept.
    return `the clientConfig ${stringifyJson(clientConfig.url ?? null)} cannot be used`;
  }
}
