import type { PriorityLevelConfiguration } from '../catalog/types/flowcontrol.v1.js';
import type { Clock } from '../std/clock.js';
import type { ReadsAndWrites } from './reads-and-writes.js';
import { QueueSet, type DispatchLater, type Queuing } from './queue-set.js';

/** A request may have this part of the nominal seats of its level. */
const requestSharesMax = 0.15;

/** The settings of a PriorityLevelConfiguration. */
interface LevelSpec {
  readonly uid: string;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: the level may borrow all seats of the others. */
  readonly borrowingLimitPercent: number | undefined;
  readonly queuing: Queuing;
}

/** Returns the settings of an object; undefined if its fields contradict each other, which validation prevents. */
export function levelSpecOf({ metadata, spec = {} }: PriorityLevelConfiguration): LevelSpec | undefined {
  const { type, limited, exempt } = spec;
  const uid = metadata.uid ?? '';
  const isExempt = metadata.name === 'exempt';
  if ((type === 'Exempt') !== isExempt || (type === 'Exempt') !== (exempt !== undefined)) return undefined;
  if (exempt) {
    const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = exempt;
    return { uid, shares, lendablePercent, borrowingLimitPercent: undefined, queuing: withoutLimit };
  }
  if (type !== 'Limited' || !limited) return undefined;
  const { type: response, queuing } = limited.limitResponse ?? {};
  if ((response === 'Queue') !== (queuing !== undefined)) return undefined;
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing ?? {};
  if (queuing && (queues < 1 || handSize < 1 || handSize > queues)) return undefined;
  return {
    uid,
    shares: limited.nominalConcurrencyShares ?? 0,
    lendablePercent: limited.lendablePercent ?? 0,
    borrowingLimitPercent: limited.borrowingLimitPercent,
    queuing: { queues, handSize, queueLengthLimit },
  };
}

const withoutLimit: Queuing = { queues: -1, handSize: 0, queueLengthLimit: 0 };

/** A priority level in force: an object's settings, and the requests in its queues and seats. */
export class PriorityLevel {
  readonly queues: QueueSet;
  /** Bound on the estimated seats of a request; 0 is no bound. */
  requestSeatsMax = 0;

  constructor(
    readonly name: string,
    public spec: LevelSpec,
    clock: Clock,
    dispatchLater: (level: QueueSet) => void,
    readsAndWrites: ReadsAndWrites,
  ) {
    const later: DispatchLater = () => dispatchLater(this.queues);
    this.queues = new QueueSet(name, spec.queuing, clock, later, readsAndWrites);
  }

  /** Computes the seats of the level: its part of `total` by its shares, of which it may lend and borrow. */
  setSeats(total: number, sharesOfAll: number, isNew: boolean): void {
    const { shares, lendablePercent, borrowingLimitPercent, queuing } = this.spec;
    const nominal = sharesOfAll > 0 ? Math.ceil((total * shares) / sharesOfAll) : 0;
    const lendable = Math.round((nominal * lendablePercent) / 100);
    const borrowable =
      borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100);
    this.queues.limits = { nominal, lower: nominal - lendable, upper: nominal + borrowable };
    if (queuing.queues > 0) {
      const most = Math.min(Math.ceil(nominal * requestSharesMax), Math.floor(nominal / queuing.handSize));
      this.requestSeatsMax = Math.max(1, most);
    } else this.requestSeatsMax = 0;
    this.queues.configure(queuing);
    this.queues.setLimit(isNew ? nominal - Math.floor(lendable / 2) : this.queues.limit);
  }
}
