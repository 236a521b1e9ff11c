import { asFields, asItems, fillIn, isSet, type Fields } from '../../machinery/fields.js';

/** Which requests a webhook or a policy is asked about: without selectors, all of what its rules match. */
export function fillMatch(match: Fields, ...ruleLists: readonly string[]): void {
  fillIn(match, 'matchPolicy', 'Equivalent');
  fillIn(match, 'namespaceSelector', {});
  fillIn(match, 'objectSelector', {});
  for (const list of ruleLists) for (const rule of asItems(match[list])) fillIn(rule, 'scope', '*');
}

const policyRuleLists = ['resourceRules', 'excludeResourceRules'] as const;

export function fillMatchResources(spec: Fields, field: string): void {
  if (isSet(spec[field])) fillMatch(asFields(spec[field]), ...policyRuleLists);
}
