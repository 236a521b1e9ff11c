import { asFields, asItems, asText, asTextMap, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

const unset = '<unset>';

export const validatingPolicyTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Validations', type: 'integer', description: 'How many validations it makes.' },
    {
      name: 'ParamKind',
      type: 'string',
      description: 'The kind of objects that its expressions take parameters from.',
    },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => policyCells(policy, 'validations', nowMs),
};

export const mutatingPolicyTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Mutations', type: 'integer', description: 'How many mutations it makes.' },
    {
      name: 'ParamKind',
      type: 'string',
      description: 'The kind of objects that its expressions take parameters from.',
    },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => policyCells(policy, 'mutations', nowMs),
};

function policyCells(policy: KubeObject, steps: string, nowMs: number) {
  const spec = asFields(policy['spec']);
  const { apiVersion, kind } = asFields(spec['paramKind']);
  return [
    policy.metadata.name ?? '',
    asItems(spec[steps]).length,
    isSet(spec['paramKind']) ? `${asText(apiVersion)}/${asText(kind)}` : unset,
    ageCell(policy.metadata.creationTimestamp, nowMs),
  ];
}

export const bindingTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'PolicyName', type: 'string', description: 'The policy that it puts in force.' },
    { name: 'ParamRef', type: 'string', description: 'Which objects hold the parameters.' },
    ageColumn,
  ],
  cells(binding, { nowMs }) {
    const { policyName, paramRef } = asFields(binding['spec']);
    return [
      binding.metadata.name ?? '',
      asText(policyName),
      isSet(paramRef) ? paramRefCell(asFields(paramRef)) : unset,
      ageCell(binding.metadata.creationTimestamp, nowMs),
    ];
  },
};

function paramRefCell({ namespace, name, selector }: Record<string, unknown>): string {
  if (asText(name) !== '')
    return asText(namespace) === '' ? `*/${asText(name)}` : `${asText(namespace)}/${asText(name)}`;
  return isSet(selector) ? selectorCell(selector) : unset;
}

/** As clients of this column know it. */
function selectorCell(selector: unknown): string {
  const { matchLabels, matchExpressions } = asFields(selector);
  const labels = asTextMap(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const requirements = asItems(matchExpressions).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${asText(key)},Operator:${asText(operator)},Values:[${(Array.isArray(values) ? values : []).join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`;
}
