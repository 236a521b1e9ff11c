import { asFields, asText } from '../machinery/fields.js';
import { validatePathSegment } from '../machinery/names.js';

/** Metadata of an object of an aggregated server, as far as reconcilers need it. */
export interface RemoteMetadata {
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
}

/** Returns a list without an element for metadata without a name that can be in a path. */
export function readMetadata(value: unknown): RemoteMetadata[] {
  const metadata = asFields(value);
  const name = asText(metadata['name']);
  if (name === '' || validatePathSegment(name).length > 0) return [];
  const { finalizers } = metadata;
  return [
    {
      name,
      uid: asText(metadata['uid']),
      isDeleting: asText(metadata['deletionTimestamp']) !== '',
      finalizers: Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [],
    },
  ];
}
