import type { NamingProfile } from '../../../config/naming-profile.js';
import type { PolicyRule } from '../../../catalog/types/rbac.v1.js';

/**
 * Parses a rule in one line: verbs, API groups, resources and optionally resource names; or verbs and URL paths.
 *
 *   get,list,watch | core,events. | events        create | apps | deployments       get | /healthz,/livez
 *   approve | certificates. | signers | ~/legacy-unknown
 *
 * A group that ends in a dot is in the API domain, `core` is the group '', and `~/` is the label domain.
 */
export function ruleOf(text: string, naming: NamingProfile): PolicyRule {
  const [verbs = [], ...columns] = text.split(' | ').map((column) => column.split(','));
  if (columns.length === 1) return { verbs, nonResourceURLs: columns[0] };
  const [groups = [], resources, names] = columns;
  return {
    verbs,
    apiGroups: groups.map((group) => groupOf(group, naming)),
    resources,
    ...(names && { resourceNames: names.map((name) => resourceNameOf(name, naming)) }),
  };
}

/** Expands the API group in the name of a role: `system:{certificates.}:legacy-unknown-approver`. */
export function roleNameOf(text: string, naming: NamingProfile): string {
  return text.replace(/\{(.+?)\}/, (_, group: string) => groupOf(group, naming));
}

function groupOf(text: string, naming: NamingProfile): string {
  if (text === 'core') return '';
  return text.endsWith('.') ? naming.group(text.slice(0, -1)) : text;
}

function resourceNameOf(text: string, naming: NamingProfile): string {
  return text.startsWith('~/') ? naming.label(text.slice(2)) : text;
}
