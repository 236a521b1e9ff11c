import type { NamespaceCondition } from '../../catalog/types/core.v1.js';
import { qualifiedResource } from '../../machinery/gvk.js';

/** Objects of one resource that remain in the namespace after all were deleted. */
export interface Remains {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
  /** Number of objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

export interface Survey {
  /** Resources whose objects could not be read. */
  readonly unreadable: readonly string[];
  /** Versions of aggregated servers whose resources are not known: `example.com/v1`. */
  readonly stale: readonly string[];
  /** Errors of deletions. */
  readonly failures: readonly string[];
  readonly remains: readonly Remains[];
}

/** A condition without its lastTransitionTime. */
type Finding = Omit<NamespaceCondition, 'lastTransitionTime'>;

export function isEmpty({ unreadable, stale, failures, remains }: Survey): boolean {
  return unreadable.length + stale.length + failures.length + remains.length === 0;
}

/** Computes the conditions of a namespace from its remaining contents; the same list if nothing changes. */
export function conditionsAfter(
  before: readonly NamespaceCondition[],
  survey: Survey,
  now: string,
): readonly NamespaceCondition[] {
  const findings = findingsOf(survey);
  const after = [
    ...before.map((condition) => {
      const finding = findings.find(({ type }) => type === condition.type);
      return finding ? updated(condition, finding, now) : condition;
    }),
    ...findings
      .filter(({ type }) => !before.some((condition) => condition.type === type))
      .map((finding) => conditionOf(finding, now)),
  ];
  return after.length === before.length && after.every((condition, at) => condition === before[at]) ? before : after;
}

function updated(condition: NamespaceCondition, finding: Finding, now: string): NamespaceCondition {
  const isSame = (['status', 'reason', 'message'] as const).every((field) => condition[field] === finding[field]);
  if (isSame) return condition;
  return conditionOf(finding, condition.status === finding.status ? condition.lastTransitionTime : now);
}

function conditionOf(
  { type, status, reason, message }: Finding,
  lastTransitionTime: string | null | undefined,
): NamespaceCondition {
  return { type, status, lastTransitionTime, reason, message };
}

function findingsOf({ unreadable, stale, failures, remains }: Survey): Finding[] {
  const undiscovered = [
    ...unreadable,
    ...stale.map((version) => `${version}: stale GroupVersion discovery: ${version}`),
  ];
  return [
    finding(
      'NamespaceDeletionDiscoveryFailure',
      ['ResourcesDiscovered', 'All resources successfully discovered'],
      undiscovered.length > 0 && [
        'DiscoveryFailed',
        `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${sorted(undiscovered)}`,
      ],
    ),
    // Versions are parsed when a group is registered, so that this cannot fail.
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
      remains.length > 0 && [
        'SomeResourcesRemain',
        `Some resources are remaining: ${sorted(remains.map(remainsText))}`,
      ],
    ),
    finding(
      'NamespaceFinalizersRemaining',
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      finalizerTexts(remains).length > 0 && [
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${sorted(finalizerTexts(remains))}`,
      ],
    ),
  ];
}

type ReasonAndMessage = readonly [reason: string, message: string];

function finding(type: string, good: ReasonAndMessage, bad: ReasonAndMessage | false): Finding {
  const [reason, message] = bad || good;
  return { type, status: bad ? 'True' : 'False', reason, message };
}

/** The resource has its group, even if that is empty: `pods. has 2 resource instances`. */
function remainsText({ group, resource, count }: Remains): string {
  return `${group === '' ? `${resource}.` : qualifiedResource(group, resource)} has ${count} resource instances`;
}

function finalizerTexts(remains: readonly Remains[]): string[] {
  const counts = new Map<string, number>();
  for (const { finalizers } of remains) {
    for (const [finalizer, count] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + count);
  }
  return Array.from(counts, ([finalizer, count]) => `${finalizer} in ${count} resource instances`);
}

const sorted = (texts: readonly string[]) => [...texts].sort().join(', ');
