import type { Revision } from '../machinery/revision.js';
import type { DeleteEvent, KeyValue, PutEvent } from './kv-store.js';

// Both functions create objects of one shape, so that V8 reads the events of a watch without a check for each variant.

export function putEvent(item: KeyValue, previous?: KeyValue): PutEvent {
  return { type: 'put', key: item.key, revision: item.modRevision, item, previous };
}

export function deleteEvent(key: string, revision: Revision, previous?: KeyValue): DeleteEvent {
  return { type: 'delete', key, revision, item: undefined, previous };
}
