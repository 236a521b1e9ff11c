import { stringifyJson } from '../codec/json.js';

/** A rule of a role, without empty lists. */
export type RequiredRule = Readonly<Record<string, readonly string[]>>;

interface Asked {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

/** Returns the smallest RBAC rule that allows the request. Made of its attributes alone, so it reveals no role. */
export function requiredRule({
  isResourceRequest,
  group,
  resource,
  subresource,
  name,
  path,
  verb,
}: Asked): RequiredRule {
  if (!isResourceRequest) return { nonResourceURLs: [path], verbs: [verb] };
  return {
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(name !== '' && { resourceNames: [name] }),
    verbs: [verb],
  };
}

/** Returns the rule in one line of YAML: `{apiGroups: [""], resources: ["pods"], verbs: ["get"]}`. */
export function ruleText(rule: RequiredRule): string {
  const fields = Object.entries(rule).filter(([, values]) => values.length > 0);
  return `{${fields.map(([field, values]) => `${field}: [${values.map(yamlText).join(', ')}]`).join(', ')}}`;
}

/** A JSON text is one of YAML. */
const yamlText = (text: string): string => stringifyJson(text);

/** Returns where the rule must be bound: `in the namespace "shop"`, or `at the cluster scope`. */
export function ruleScope({ isResourceRequest, namespace }: Asked): string {
  return isResourceRequest && namespace !== '' ? `in the namespace ${yamlText(namespace)}` : 'at the cluster scope';
}
