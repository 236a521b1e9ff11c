import type { NamingProfile } from '../../../config/naming-profile.js';
import type { Fields } from '../../../machinery/fields.js';

/**
 * A rule in one line: verbs, groups, resources and, where it is only about some, their names; or verbs and paths.
 *
 *   get,list,watch | core,events. | events        create | apps | deployments       get | /healthz,/livez
 *   approve | certificates. | signers | ~/legacy-unknown
 *
 * A group that ends in a dot is one of the API domain, `core` is the one without a name, and `~/` is the label domain.
 */
export function ruleOf(text: string, naming: NamingProfile): Fields {
  const [verbs = [], ...parts] = text.split(' | ').map((part) => part.split(','));
  if (parts.length === 1) return { verbs, nonResourceURLs: parts[0] };
  const [groups = [], resources, names] = parts;
  return {
    verbs,
    apiGroups: groups.map((group) => groupOf(group, naming)),
    resources,
    ...(names && { resourceNames: names.map((name) => resourceNameOf(name, naming)) }),
  };
}

/** `system:{certificates.}:legacy-unknown-approver`: the name of a role with the group that it is about. */
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
