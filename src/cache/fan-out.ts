import type { CacheEvent } from './cache-event.js';
import type { WatchRequest } from './watch-request.js';

/** A watcher that is up to date and waits for the next event. */
export interface ActiveWatcher {
  readonly request: WatchRequest;
  /** Where it stands in the index: kept here so that leaving costs nothing. */
  place: Place | undefined;
  placeIndex: number;
  /** The number of the last event it was shown. */
  lastSeen: number;
  deliver(event: CacheEvent): void;
}

/** Watchers in no order; the last one takes the place of one that leaves. */
export class Place {
  readonly watchers: ActiveWatcher[] = [];
  constructor(
    readonly owner: Map<string, Place> | undefined,
    readonly name: string,
  ) {}
}

/**
 * Which watchers an event concerns, found without asking the others. Each stands in one place, its narrowest:
 *
 *   one key  ·  spec.nodeName = node-7  ·  /registry/pods/ns-1/  ·  everything
 *
 * An event visits the places of its key, of its namespace and, for each indexed field, of the values before and after.
 */
export class FanOut {
  private readonly everything = new Place(undefined, '');
  private readonly byKey = new Map<string, Place>();
  private readonly byParent = new Map<string, Place>();
  private readonly byField: readonly { readonly field: string; readonly places: Map<string, Place> }[];

  constructor(
    private readonly prefix: string,
    indexedFields: readonly string[],
  ) {
    this.byField = indexedFields.map((field) => ({ field, places: new Map<string, Place>() }));
  }

  add(watcher: ActiveWatcher): void {
    const place = this.placeFor(watcher.request);
    watcher.place = place;
    watcher.placeIndex = place.watchers.length;
    place.watchers.push(watcher);
  }

  remove(watcher: ActiveWatcher): void {
    const { place, placeIndex } = watcher;
    if (!place) return;
    const last = place.watchers.pop()!;
    if (last !== watcher) {
      place.watchers[placeIndex] = last;
      last.placeIndex = placeIndex;
    }
    watcher.place = undefined;
    if (place.watchers.length === 0) place.owner?.delete(place.name);
  }

  dispatch(event: CacheEvent, number: number): void {
    visit(this.everything, event, number);
    if (this.byKey.size > 0) visit(this.byKey.get(event.key), event, number);
    if (this.byParent.size > 0) visit(this.byParent.get(parentOf(event.key)), event, number);
    for (const { field, places } of this.byField) {
      if (places.size === 0) continue;
      const before = event.previous && (event.previous.attributes.fields[field] ?? '');
      const after = event.current && (event.current.attributes.fields[field] ?? '');
      if (before !== undefined) visit(places.get(before), event, number);
      if (after !== undefined && after !== before) visit(places.get(after), event, number);
    }
  }

  private placeFor(request: WatchRequest): Place {
    if (request.exactKey) return placeIn(this.byKey, request.scope);
    for (const { field, places } of this.byField) {
      const equality = request.equalities.find((other) => other.field === field);
      if (equality) return placeIn(places, equality.value);
    }
    const isOneNamespace = request.scope !== this.prefix && parentOf(`${request.scope}name`) === request.scope;
    return isOneNamespace ? placeIn(this.byParent, request.scope) : this.everything;
  }
}

function placeIn(places: Map<string, Place>, name: string): Place {
  let place = places.get(name);
  if (!place) places.set(name, (place = new Place(places, name)));
  return place;
}

const parentOf = (key: string) => key.slice(0, key.lastIndexOf('/') + 1);

/** From the end: one that leaves while it is visited is replaced by one that was. Others may leave too: hence lastSeen. */
function visit(place: Place | undefined, event: CacheEvent, number: number): void {
  if (!place) return;
  const { watchers } = place;
  for (let i = watchers.length - 1; i >= 0; i--) {
    const watcher = watchers[i];
    if (!watcher || watcher.lastSeen === number) continue;
    watcher.lastSeen = number;
    watcher.deliver(event);
  }
}
