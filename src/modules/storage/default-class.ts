import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** How tables name the class that those get who name none. */
export function classNameCell(naming: NamingProfile, ...subdomains: readonly string[]): (object: KubeObject) => string {
  const marks = subdomains.map((subdomain) => naming.label('is-default-class', subdomain));
  return ({ metadata: { name = '', annotations } }) =>
    marks.some((mark) => annotations?.[mark] === 'true') ? `${name} (default)` : name;
}
