import { asFields, asText } from '../machinery/fields.js';
import { validatePathSegment } from '../machinery/names.js';

/** Metadata of an object of an aggregated server, as far as reconcilers need it. */
export interface RemoteMetadata {
  readonly name: string;
  readonly namespace: string;
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
      namespace: asText(metadata['namespace']),
      finalizers: Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [],
    },
  ];
}
