import type { AuditedWrite } from './audited-writes.js';
import type { ObjectRevision } from './object-history.js';

/** The longest time of a request. */
const requestSecondsMax = 90;

/**
 * Returns the write of each revision, where one is found: that with its resourceVersion if the log has answers, otherwise one
 * in its second, of its manager if there are several. No write is used twice.
 */
export function revisionWrites(
  revisions: readonly ObjectRevision[],
  writes: readonly AuditedWrite[],
): (AuditedWrite | undefined)[] {
  const effects = effectsOf(revisions);
  const byVersion = new Map<string, AuditedWrite>();
  for (const write of writes) {
    // A write that changes nothing is answered with the resourceVersion of the one before.
    if (write.resourceVersion !== '' && !byVersion.has(write.resourceVersion))
      byVersion.set(write.resourceVersion, write);
  }
  const found = revisions.map(({ resourceVersion }, index) => {
    const write = byVersion.get(resourceVersion);
    return write && effects[index]!.includes(write.effect) ? write : undefined;
  });
  const left = new UnrelatedWrites(writes, new Set(found));
  let latestMs = 0;
  return revisions.map((revision, index) => {
    const secondMs = Date.parse(revision.time);
    if (Number.isFinite(secondMs)) latestMs = Math.max(latestMs, secondMs);
    if (found[index]) return found[index];
    const wanted = effects[index]!;
    return Number.isFinite(secondMs) ? left.takeInSecond(secondMs, wanted, revision) : left.takeAfter(latestMs, wanted);
  });
}

type Effect = AuditedWrite['effect'];

/** Returns the effects that the write of each revision may have had, the likeliest first. */
function effectsOf(revisions: readonly ObjectRevision[]): Effect[][] {
  let isTerminating = false;
  return revisions.map(({ change, fields }) => {
    if (change === 'existed') return ['change', 'create'];
    if (change === 'created') {
      isTerminating = false;
      return ['create'];
    }
    if (change === 'deleted') return isTerminating ? ['change', 'delete'] : ['delete'];
    const isDelete = fields.some(({ path }) => path === 'metadata.deletionTimestamp');
    isTerminating ||= isDelete;
    return isDelete ? ['delete'] : ['change'];
  });
}

/** Writes that no resourceVersion relates to a revision: their seconds and their order do. */
class UnrelatedWrites {
  private readonly bySecond = new Map<number, AuditedWrite[]>();
  private readonly inOrder = new Map<Effect, { readonly writes: AuditedWrite[]; next: number }>();

  constructor(
    writes: readonly AuditedWrite[],
    private readonly used: Set<AuditedWrite | undefined>,
  ) {
    const left = writes.filter((write) => !used.has(write));
    for (const write of left) {
      const first = Math.floor(write.receivedMs / 1_000);
      const last = Math.min(Math.floor(write.doneMs / 1_000), first + requestSecondsMax);
      for (let second = first; second <= last; second++) itemsIn(this.bySecond, second).push(write);
    }
    left.sort((a, b) => a.doneMs - b.doneMs);
    for (const effect of ['create', 'change', 'delete'] as const) {
      this.inOrder.set(effect, { writes: left.filter((write) => write.effect === effect), next: 0 });
    }
  }

  takeInSecond(secondMs: number, effects: readonly Effect[], { writers }: ObjectRevision): AuditedWrite | undefined {
    const inSecond = this.bySecond.get(secondMs / 1_000) ?? [];
    const candidates = inSecond.filter((write) => !this.used.has(write) && effects.includes(write.effect));
    const byManager = candidates.find(({ manager }) => writers.some((one) => one.manager === manager));
    return this.take(byManager ?? candidates[0]);
  }

  /** Takes the first write that ended after a time. The times of the calls do not decrease, so each write is passed once. */
  takeAfter(timeMs: number, effects: readonly Effect[]): AuditedWrite | undefined {
    for (const effect of effects) {
      const queue = this.inOrder.get(effect)!;
      for (; queue.next < queue.writes.length; queue.next++) {
        const write = queue.writes[queue.next]!;
        if (write.doneMs >= timeMs && !this.used.has(write)) return this.take(write);
      }
    }
    return undefined;
  }

  private take(write: AuditedWrite | undefined): AuditedWrite | undefined {
    if (write) this.used.add(write);
    return write;
  }
}

function itemsIn(lists: Map<number, AuditedWrite[]>, key: number): AuditedWrite[] {
  let list = lists.get(key);
  if (!list) lists.set(key, (list = []));
  return list;
}
