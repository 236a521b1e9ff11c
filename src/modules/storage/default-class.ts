import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** Returns a function for the name cell of a class: `name`, or `name (default)` for the default class. */
export function classNameCell(naming: NamingProfile, ...subdomains: readonly string[]): (object: KubeObject) => string {
  const marks = subdomains.map((subdomain) => naming.label('is-default-class', subdomain));
  return ({ metadata: { name = '', annotations } }) =>
    marks.some((mark) => annotations?.[mark] === 'true') ? `${name} (default)` : name;
}
