import type { NamingProfile } from '../../config/naming-profile.js';

type Labels = Readonly<Record<string, string>> | undefined;

/** Labels that are not the same in both, by name. */
export function changedLabels(labels: Labels = {}, before: Labels = {}): string[] {
  const names = new Set([...Object.keys(labels), ...Object.keys(before)]);
  const valueIn = (of: Record<string, string>, name: string) => (Object.hasOwn(of, name) ? of[name] : undefined);
  return [...names].filter((name) => valueIn(labels, name) !== valueIn(before, name)).sort();
}

/**
 * Those that a node may not give itself: Pods are sent to nodes by labels, and a node could ask for Pods that are not
 * meant for it. What a node says of itself are its machine, its place, and what lies in its agent's own domains.
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
  const isIn = (domain: string, wide: string) => domain === wide || domain.endsWith(`.${wide}`);
  const subdomain = (name: string) => domainOf(naming.label('x', name));
  return names.filter((name) => {
    const domain = domainOf(name);
    if (isIn(domain, subdomain('node-restriction'))) return true;
    const isReserved = [naming.labelDomain, naming.apiDomain].some((reserved) => isIn(domain, reserved));
    const isOwn = own.has(name) || ['kubelet', 'node'].some((agent) => isIn(domain, subdomain(agent)));
    return isReserved && !isOwn;
  });
}
