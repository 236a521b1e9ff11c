import type { NamingProfile } from '../../config/naming-profile.js';

/** Returns a function that gives the warning for a deprecated node label: `deprecated since v1.14; use "…" instead`. */
export function oldNodeLabels(naming: NamingProfile): (label: string) => string | undefined {
  const beta = 'beta';
  const zones = 'failure-domain.beta';
  const rows: readonly (readonly [old: string, since: string, now: string])[] = [
    [naming.label('arch', beta), 'v1.14', naming.label('arch')],
    [naming.label('os', beta), 'v1.14', naming.label('os')],
    [naming.label('region', zones), 'v1.17', naming.label('region', 'topology')],
    [naming.label('zone', zones), 'v1.17', naming.label('zone', 'topology')],
    [naming.label('instance-type', beta), 'v1.17', naming.label('instance-type', 'node')],
  ];
  const messages = new Map(rows.map(([old, since, now]) => [old, `deprecated since ${since}; use "${now}" instead`]));
  return (label) => messages.get(label);
}
