import { qualifiedResource } from '../../machinery/gvk.js';

/** What of one resource is still in the namespace after everything in it was asked to go. */
export interface Remains {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
  /** How many objects each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>;
}

export interface Survey {
  /** Resources that could not be looked at. */
  readonly unreadable: readonly string[];
  /** What went wrong where something was to be deleted. */
  readonly failures: readonly string[];
  readonly remains: readonly Remains[];
}

/** As it stands in status: clients, kubectl among them, wait for these and show them. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

type Finding = Omit<Condition, 'lastTransitionTime'>;

export function isEmpty({ unreadable, failures, remains }: Survey): boolean {
  return unreadable.length + failures.length + remains.length === 0;
}

/** The conditions of a namespace after a look at its contents; the same list where that tells nothing else. */
export function conditionsAfter(before: readonly Condition[], survey: Survey, now: string): readonly Condition[] {
  const findings = findingsOf(survey);
  const after = [
    ...before.map((condition) => {
      const finding = findings.find(({ type }) => type === condition.type);
      return finding ? renewed(condition, finding, now) : condition;
    }),
    ...findings
      .filter(({ type }) => !before.some((condition) => condition.type === type))
      .map((finding) => made(finding, now)),
  ];
  return after.length === before.length && after.every((condition, at) => condition === before[at]) ? before : after;
}

function renewed(condition: Condition, finding: Finding, now: string): Condition {
  const isSame = (['status', 'reason', 'message'] as const).every((field) => condition[field] === finding[field]);
  if (isSame) return condition;
  return made(finding, condition.status === finding.status ? condition.lastTransitionTime : now);
}

function made({ type, status, reason, message }: Finding, lastTransitionTime: string): Condition {
  return { type, status, lastTransitionTime, reason, message };
}

function findingsOf({ unreadable, failures, remains }: Survey): Finding[] {
  return [
    finding(
      'NamespaceDeletionDiscoveryFailure',
      ['ResourcesDiscovered', 'All resources successfully discovered'],
      unreadable.length > 0 && [
        'DiscoveryFailed',
        `Discovery failed for some groups, ${unreadable.length} failing: ${sorted(unreadable)}`,
      ],
    ),
    // Versions are read when a group is registered, so that nothing unreadable gets here.
    finding(
      'NamespaceDeletionGroupVersionParsingFailure',
      ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      false,
    ),
    finding(
      'NamespaceDeletionContentFailure',
      ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      failures.length > 0 && [
        'ContentDeletionFailed',
        `Failed to delete all resource types, ${failures.length} remaining: ${sorted(failures)}`,
      ],
    ),
    finding(
      'NamespaceContentRemaining',
      ['ContentRemoved', 'All content successfully removed'],
      remains.length > 0 && ['SomeResourcesRemain', `Some resources are remaining: ${sorted(remains.map(told))}`],
    ),
    finding(
      'NamespaceFinalizersRemaining',
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      holders(remains).length > 0 && [
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${sorted(holders(remains))}`,
      ],
    ),
  ];
}

type Telling = readonly [reason: string, message: string];

function finding(type: string, good: Telling, bad: Telling | false): Finding {
  const [reason, message] = bad || good;
  return { type, status: bad ? 'True' : 'False', reason, message };
}

/** Every resource with its group, also where that is empty: `pods. has 2 …`. */
function told({ group, resource, count }: Remains): string {
  return `${group === '' ? `${resource}.` : qualifiedResource(group, resource)} has ${count} resource instances`;
}

function holders(remains: readonly Remains[]): string[] {
  const counts = new Map<string, number>();
  for (const { finalizers } of remains) {
    for (const [finalizer, count] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + count);
  }
  return Array.from(counts, ([finalizer, count]) => `${finalizer} in ${count} resource instances`);
}

const sorted = (texts: readonly string[]) => [...texts].sort().join(', ');
