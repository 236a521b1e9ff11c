import type { RequestInfo } from '../machinery/request-info.js';

/** The seats of a request while it executes, and those that its watchers occupy afterwards. */
export interface WorkEstimate {
  readonly initialSeats: number;
  readonly finalSeats: number;
  /** Time for which the final seats stay occupied. */
  readonly lingerMs: number;
}

/** Stored objects of a resource. */
export interface ObjectStats {
  readonly count: number;
  readonly averageBytes: number;
}

interface Sources {
  /** Undefined for a resource that is not stored. */
  readonly statsOf: (info: RequestInfo) => ObjectStats | undefined;
  /** Number of watches that an event of the write goes to. */
  readonly concernedWatches: (info: RequestInfo) => number;
  /** True if watches may begin with the objects of a list, by the feature gate WatchList. */
  readonly watchListEnabled: boolean;
  /** By the feature gate SizeBasedListCostEstimate: estimates lists by bytes instead of by objects. */
  readonly sizeBased: boolean;
}

const bytesPerSeat = 100_000;
const objectsPerSeat = 100;
/** A list from the cache is streamed, so that no more is in memory at a time. */
const streamedBytesMax = 1_000_000;
const objectBytesMax = 1_500_000;
const listSeatsMaxBySize = 100;
const listSeatsMaxByCount = 10;
const mutatingSeatsMax = 10;
const watchesPerSeat = 10;
/** Time in which ten watchers, which share a seat, are served. */
const eventMs = 5;

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingerMs: 0 };

/** Estimates the work of requests by the rules of kube-apiserver. */
export class WorkEstimator {
  constructor(private readonly sources: Sources) {}

  /** `levelSeatsMax` bounds the seats of a request in its level; 0 is no bound. `noteWatches` gets the watches of a write. */
  estimate(info: RequestInfo, levelSeatsMax: number, noteWatches: (count: number) => void): WorkEstimate {
    switch (info.verb) {
      case 'list':
        return this.list(info, levelSeatsMax);
      case 'watch':
        return this.sources.watchListEnabled ? this.list(info, levelSeatsMax) : oneSeat;
      case 'create':
      case 'update':
      case 'patch':
      case 'delete':
        return this.mutating(info, levelSeatsMax, noteWatches);
      default:
        return oneSeat;
    }
  }

  private list(info: RequestInfo, levelSeatsMax: number): WorkEstimate {
    const { sizeBased } = this.sources;
    const { query, verb } = info;
    const version = query.first('resourceVersion') ?? '';
    if (verb === 'watch') {
      const sendsInitial = query.first('sendInitialEvents');
      const isLegacy = version === '' || version === '0';
      if (!isLegacy && (sendsInitial === undefined || sendsInitial === 'false' || sendsInitial === '0')) return oneSeat;
    }
    const stats = this.sources.statsOf(info);
    if (!stats) return oneSeat;
    const most = boundedBy(levelSeatsMax, sizeBased ? listSeatsMaxBySize : listSeatsMaxByCount);
    const limit = Number(query.first('limit') ?? 0);
    const read = {
      isOne: info.name !== '',
      isFromCache: verb === 'watch' || isFromCache(info, version, limit),
      isFiltered: (query.first('fieldSelector') ?? '') !== '' || (query.first('labelSelector') ?? '') !== '',
      limited: limit > 0 && limit < stats.count ? limit : stats.count,
    };
    const seats = sizeBased ? seatsBySize(stats, read) : seatsByCount(stats, read);
    if (seats <= 1) return oneSeat;
    return { initialSeats: Math.min(seats, most), finalSeats: 0, lingerMs: 0 };
  }

  private mutating(info: RequestInfo, levelSeatsMax: number, noteWatches: (count: number) => void): WorkEstimate {
    // Tokens are not stored, so that no watcher gets an event.
    if (info.resource === 'serviceaccounts' && info.subresource === 'token') return oneSeat;
    const watches = this.sources.concernedWatches(info);
    noteWatches(watches);
    if (watches < watchesPerSeat) return oneSeat;
    const wanted = Math.ceil(watches / watchesPerSeat);
    const finalSeats = Math.min(wanted, boundedBy(levelSeatsMax, mutatingSeatsMax));
    // Fewer seats for a longer time: the work stays the same.
    return { initialSeats: 1, finalSeats, lingerMs: (wanted * eventMs) / finalSeats };
  }
}

interface ListRead {
  readonly isOne: boolean;
  readonly isFromCache: boolean;
  readonly isFiltered: boolean;
  readonly limited: number;
}

function seatsBySize(
  { count, averageBytes }: ObjectStats,
  { isOne, isFromCache, isFiltered, limited }: ListRead,
): number {
  const average = averageBytes > 0 || count === 0 ? averageBytes : objectBytesMax;
  const loaded = isOne ? 1 : isFiltered && !isFromCache ? Math.max(limited, Math.floor(count / 2)) : limited;
  const bytes = loaded * average;
  return Math.ceil((isFromCache ? Math.min(bytes, streamedBytesMax) : bytes) / bytesPerSeat);
}

function seatsByCount({ count }: ObjectStats, { isOne, isFromCache, isFiltered, limited }: ListRead): number {
  const processed = isOne ? 1 : isFromCache ? count : isFiltered ? count + limited : 2 * limited;
  return Math.ceil(processed / objectsPerSeat);
}

/** True if kube-apiserver would answer the list from its cache: not older revisions, and no further pages. */
function isFromCache({ query }: RequestInfo, version: string, limit: number): boolean {
  const match = query.first('resourceVersionMatch') ?? '';
  if (match !== '') return match === 'NotOlderThan';
  if ((query.first('continue') ?? '') !== '') return false;
  return !(limit > 0 && version !== '' && version !== '0');
}

const boundedBy = (levelSeatsMax: number, most: number): number =>
  levelSeatsMax === 0 || levelSeatsMax > most ? most : levelSeatsMax;
