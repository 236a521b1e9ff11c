import { createHash } from 'node:crypto';
import { encodeJson, parseJson, stringifyJson } from '../../codec/json.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { restoredMetadata } from './conversion-review.js';

/**
 * Results of conversions by webhooks, of all custom kinds. A result depends on the object without resourceVersion,
 * generation and managedFields: these are those of the object for which it is read. Beyond the limit, results that were
 * not read for the longest time are dropped.
 */
export class ConvertedObjects {
  private readonly results = new Map<string, Buffer>();
  private bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Returns the key of the result of converting `object` to `apiVersion`. Converters do not share results. */
  keyOf(object: KubeObject, apiVersion: string, converter: string): string {
    const { metadata, ...rest } = object;
    const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...kept } = metadata;
    return createHash('sha256')
      .update(`${converter}\0${apiVersion}\0`)
      .update(stringifyJson([rest, kept]))
      .digest('base64');
  }

  /** Returns the result for the object as a new object. */
  get(key: string, object: KubeObject): KubeObject | undefined {
    const bytes = this.results.get(key);
    if (!bytes) return undefined;
    this.results.delete(key);
    this.results.set(key, bytes);
    const converted = parseJson(bytes) as unknown as KubeObject;
    return { ...converted, metadata: restoredMetadata(object, { ...converted.metadata }) };
  }

  has(key: string): boolean {
    return this.results.has(key);
  }

  set(key: string, converted: KubeObject): void {
    this.bytes -= this.results.get(key)?.length ?? 0;
    this.results.delete(key);
    const { labels, annotations } = converted.metadata;
    const bytes = encodeJson({ ...converted, metadata: { labels, annotations } });
    this.results.set(key, bytes);
    this.bytes += bytes.length;
    for (const [oldest, { length }] of this.results) {
      // The newest result stays in any case, so that its caller finds it.
      if (this.bytes <= this.bytesMax || oldest === key) break;
      this.results.delete(oldest);
      this.bytes -= length;
    }
  }
}
