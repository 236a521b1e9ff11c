import type { EncodedObject } from './encoded-object.js';

/** Limit on paths in one log line. */
const pathsMax = 10;

/**
 * Returns the JSON pointers of fields that two states of an object do not share: `/spec/replicas`. Without values,
 * which may be those of a Secret. Objects only differ after a bug, so fast-json-patch is imported for the first one.
 */
export async function differingPaths(one: EncodedObject, other: EncodedObject): Promise<readonly string[]> {
  const { default: fastJsonPatch } = await import('fast-json-patch');
  try {
    const operations = fastJsonPatch.compare(one.parse(), other.parse());
    return operations.slice(0, pathsMax).map(({ path }) => path);
  } catch (error) {
    return [`cannot be compared: ${(error as Error).message}`];
  }
}
