import type { ParamRef, ValidatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../catalog/types/admissionregistration.v1beta1.js';
import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

const unset = '<unset>';

export const validatingPolicyTable: TableDefinition<ValidatingAdmissionPolicy> = {
  columns: [
    nameColumn,
    { name: 'Validations', type: 'integer', description: 'The number of validations.' },
    {
      name: 'ParamKind',
      type: 'string',
      description: 'The kind of the objects with parameters for the expressions.',
    },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => policyCells(policy, policy.spec?.validations ?? [], nowMs),
};

export const mutatingPolicyTable: TableDefinition<MutatingAdmissionPolicy> = {
  columns: [
    nameColumn,
    { name: 'Mutations', type: 'integer', description: 'The number of mutations.' },
    {
      name: 'ParamKind',
      type: 'string',
      description: 'The kind of the objects with parameters for the expressions.',
    },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => policyCells(policy, policy.spec?.mutations ?? [], nowMs),
};

function policyCells(
  { metadata, spec }: ValidatingAdmissionPolicy | MutatingAdmissionPolicy,
  steps: readonly object[],
  nowMs: number,
) {
  const paramKind = spec?.paramKind;
  return [
    metadata.name ?? '',
    steps.length,
    paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : unset,
    ageCell(metadata.creationTimestamp, nowMs),
  ];
}

/** The table of both kinds of bindings. */
export const bindingTable: TableDefinition<MutatingAdmissionPolicyBinding> = {
  columns: [
    nameColumn,
    { name: 'PolicyName', type: 'string', description: 'The policy that the binding applies.' },
    { name: 'ParamRef', type: 'string', description: 'The objects with parameters for the policy.' },
    ageColumn,
  ],
  cells: ({ metadata, spec = {} }, { nowMs }) => [
    metadata.name ?? '',
    spec.policyName ?? '',
    spec.paramRef ? paramRefCell(spec.paramRef) : unset,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};

function paramRefCell({ namespace, name, selector }: ParamRef): string {
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? selectorCell(selector) : unset;
}

/** Formats a LabelSelector as the String method of the Go type does. */
function selectorCell({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const requirements = matchExpressions.map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`;
}
