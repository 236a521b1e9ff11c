import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import type { GroupResource } from '../../machinery/gvk.js';

/** Parses `resource.group`; the group is empty without a dot. */
export function parseResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

/** Returns the name under which a rule is found: `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group. */
export function ruleName({ resource, group }: GroupResource): string {
  return group === '' && resource !== '*' ? resource : `${resource}.${group}`;
}

const withoutApi: readonly string[] = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

/** Validates the names of one list, in the order of kube-apiserver: overlaps of names first, then each name. */
export function resourceErrors(resources: readonly string[], at: FieldPath, naming: NamingProfile): FieldError[] {
  const errors = overlapErrors(resources, at);
  for (const [index, name] of resources.entries()) {
    const flaw = flawOf(name, naming);
    if (flaw !== undefined) errors.push(fieldError.invalid(at.index(index), name, flaw));
  }
  return errors;
}

function flawOf(name: string, naming: NamingProfile): string | undefined {
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters';
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (withoutApi.includes(name)) return 'resources which do not have REST API/s cannot be encrypted';
  const { resource, group } = parseResource(name);
  const events = naming.group('events');
  if (group === events) {
    return `'*.${events}' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`;
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
}

function overlapErrors(resources: readonly string[], at: FieldPath): FieldError[] {
  const parsed = resources.map(parseResource);
  const hasPair = (holds: (a: GroupResource, b: GroupResource) => boolean) =>
    parsed.some((a, i) => parsed.some((b, j) => i !== j && holds(a, b)));
  const isSame = (a: GroupResource, b: GroupResource) => a.resource === b.resource && a.group === b.group;
  const masks = (a: GroupResource, b: GroupResource) =>
    (a.resource === '*' && a.group === '*') || (a.group === b.group && (a.resource === '*' || b.resource === '*'));
  const errors: FieldError[] = [];
  if (hasPair(isSame)) {
    errors.push(fieldError.invalid(at, resources, 'the same resource cannot be specified multiple times'));
  }
  // The first pair of equal names is a duplicate and no overlap, as in kube-apiserver.
  if (hasPair((a, b) => masks(a, b) && !isSame(a, b))) {
    errors.push(
      fieldError.invalid(
        at,
        resources,
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
      ),
    );
  }
  return errors;
}

/** Returns the problem of a name that an earlier entry of the configuration masks. */
export function maskedProblem(name: GroupResource, earlier: ReadonlySet<string>): string | undefined {
  for (const mask of [ruleName({ resource: '*', group: name.group }), '*.*']) {
    if (earlier.has(mask)) return `resource "${ruleName(name)}" is masked by earlier rule "${mask}"`;
  }
  return undefined;
}
