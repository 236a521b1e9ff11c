import type { NamingProfile } from '../../config/naming-profile.js';
import type { GroupResource } from '../../machinery/gvk.js';
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

/** The evaluators of all resources, created on first use, since custom kinds come and go. */
export class Evaluators {
  private readonly known = new Map<string, Evaluator>();

  constructor(naming: NamingProfile) {
    this.known.set('/pods', podEvaluator(naming));
    this.known.set('/services', serviceEvaluator);
    this.known.set('/persistentvolumeclaims', claimEvaluator(naming));
  }

  /** Undefined for Events, which are not counted: they are many and short-lived. */
  of(resource: GroupResource): Evaluator | undefined {
    if (resource.resource === 'events') return undefined;
    const path = `${resource.group}/${resource.resource}`;
    let evaluator = this.known.get(path);
    if (!evaluator) this.known.set(path, (evaluator = countingEvaluator(resource)));
    return evaluator;
  }
}
