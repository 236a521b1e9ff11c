import type { NamingProfile } from '../../config/naming-profile.js';

type Labels = Readonly<Record<string, string>> | undefined;

/** Returns the keys of labels that were added, changed or removed, sorted. */
export function changedLabels(labels: Labels = {}, before: Labels = {}): string[] {
  const names = new Set([...Object.keys(labels), ...Object.keys(before)]);
  const valueIn = (map: Record<string, string>, name: string) => (Object.hasOwn(map, name) ? map[name] : undefined);
  return [...names].filter((name) => valueIn(labels, name) !== valueIn(before, name)).sort();
}

/**
 * Returns the labels that a node must not set on its Node: node selectors read them, so a node could attract Pods of
 * others. Allowed are the labels of machine, zone and region, those in the kubelet's domains, and those of users.
 */
export function foreignLabels(names: readonly string[], naming: NamingProfile): string[] {
  const own = new Set([
    ...['hostname', 'os', 'arch'].map((name) => naming.label(name)),
    ...['os', 'arch', 'instance-type'].map((name) => naming.label(name, 'beta')),
    ...['zone', 'region'].flatMap((name) => [
      naming.label(name, 'topology'),
      naming.label(name, 'failure-domain.beta'),
    ]),
  ]);
  const domainOf = (label: string) => label.slice(0, Math.max(label.indexOf('/'), 0));
  const isIn = (domain: string, parent: string) => domain === parent || domain.endsWith(`.${parent}`);
  const subdomain = (name: string) => domainOf(naming.label('x', name));
  return names.filter((name) => {
    const domain = domainOf(name);
    if (isIn(domain, subdomain('node-restriction'))) return true;
    const isReserved = [naming.labelDomain, naming.apiDomain].some((reserved) => isIn(domain, reserved));
    const isOwn = own.has(name) || ['kubelet', 'node'].some((agent) => isIn(domain, subdomain(agent)));
    return isReserved && !isOwn;
  });
}
