import type { Environment } from '../cel/environment.js';
import { types } from '../cel/types.js';
import type { Steps } from '../std/steps.js';
import { list, map, struct, text } from './declared-types.js';
import { compileExpression, environmentOf, type CompiledExpression } from './environment.js';

const requirement = struct('kubernetes.SelectorRequirement', { key: text, operator: text, values: list(text) });
const selector = (name: string) => struct(name, { rawSelector: text, requirements: list(requirement) });

/** `request`: the spec of a SubjectAccessReview of v1. */
const request = struct('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: struct('kubernetes.ResourceAttributes', {
    namespace: text,
    verb: text,
    group: text,
    version: text,
    resource: text,
    subresource: text,
    name: text,
    fieldSelector: selector('kubernetes.FieldSelectorAttributes'),
    labelSelector: selector('kubernetes.LabelSelectorAttributes'),
  }),
  nonResourceAttributes: struct('kubernetes.NonResourceAttributes', { path: text, verb: text }),
  user: text,
  groups: list(text),
  extra: map(text, list(text)),
  uid: text,
});

let environment: Environment | undefined;

/** Compiles a match condition of a webhook authorizer, which sees `request`. */
export function compileAuthorizationExpression(source: string): Steps<CompiledExpression> {
  environment ??= environmentOf('stored', { variables: { request } });
  return compileExpression(environment, source, (type) =>
    type.equals(types.bool) ? undefined : `must evaluate to bool but got ${String(type)}`,
  );
}
