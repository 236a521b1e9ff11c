/** The core group is ''. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** Returns `v1` for the core group, otherwise `group/version`. */
export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns undefined if the text has more than one slash. */
export function parseApiVersion(text: string): { group: string; version: string } | undefined {
  const parts = text.split('/');
  if (parts.length === 1) return { group: '', version: text };
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! };
  return undefined;
}

/** Returns `pods` or `deployments.apps`, as messages name a resource. */
export function qualifiedResource(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
