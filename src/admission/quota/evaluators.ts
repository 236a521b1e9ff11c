import type { NamingProfile } from '../../config/naming-profile.js';
import type { GroupResource } from '../../machinery/gvk.js';
import { RecentValues } from '../../std/recent-values.js';
import { one, type Amounts } from '../amounts.js';
import { claimEvaluator } from './claim.evaluator.js';
import type { Evaluator } from './evaluator.js';
import { podEvaluator } from './pod.evaluator.js';
import { noScope } from './scopes.js';
import { serviceEvaluator } from './service.evaluator.js';

/** `count/deployments.apps`, `count/secrets` */
function objectCountName({ group, resource }: GroupResource): string {
  return `count/${group === '' ? resource : `${resource}.${group}`}`;
}

const plainNames = ['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas'];

/** Counts the objects of a resource, and nothing in them. */
function countingEvaluator(counted: GroupResource): Evaluator {
  const { group, resource } = counted;
  const names = [objectCountName(counted), ...(group === '' && plainNames.includes(resource) ? [resource] : [])];
  const usage: Amounts = new Map(names.map((name) => [name, one]));
  return {
    handles: (operation, subresource) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    usage: () => usage,
    countedNames: names,
    matchesScope: noScope,
  };
}

/** The evaluators of all resources, created on first use. Those of custom kinds that are gone are forgotten. */
export class Evaluators {
  private readonly special: ReadonlyMap<string, Evaluator>;
  private readonly counting = new RecentValues(countingMax, (path) => {
    const [group, resource] = path.split('/') as [string, string];
    return countingEvaluator({ group, resource });
  });

  constructor(naming: NamingProfile) {
    this.special = new Map([
      ['/pods', podEvaluator(naming)],
      ['/services', serviceEvaluator],
      ['/persistentvolumeclaims', claimEvaluator(naming)],
    ]);
  }

  /** Undefined for Events, which are not counted: they are many and short-lived. */
  of({ group, resource }: GroupResource): Evaluator | undefined {
    if (resource === 'events') return undefined;
    const path = `${group}/${resource}`;
    return this.special.get(path) ?? this.counting.get(path);
  }
}

const countingMax = 2_000;
