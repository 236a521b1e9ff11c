import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/go-quote.js';
import { apiVersionOf, type GroupVersionKind } from '../machinery/gvk.js';
import type { JsonValue, KubeObject } from '../machinery/kube-object.js';
import { isTrueParameter } from '../machinery/query.js';
import type { FieldType, TypeSource } from '../machinery/type-model.js';

/** The parameters of a request that opens a connection. */
interface ConnectQuery {
  first(name: string): string | undefined;
  all(name: string): readonly string[];
  /** The part of the path that a proxy requests, with a leading slash; '' without any. */
  readonly subpath?: string;
}

/**
 * Returns the options of a connection (PodExecOptions), which admission sees as the object of the request. They have no
 * metadata: that of their prototype is for plug-ins, while webhooks and expressions see own properties only.
 */
export function connectOptions(gvk: GroupVersionKind, types: TypeSource, query: ConnectQuery): KubeObject {
  const options = Object.create({ metadata: {} }) as KubeObject & Record<string, JsonValue>;
  Object.assign(options, { kind: gvk.kind, apiVersion: apiVersionOf(gvk.group, gvk.version) });
  for (const { name, type } of types.kind(gvk.group, gvk.version, gvk.kind)?.fields ?? []) {
    const value = name === 'path' ? query.subpath || undefined : valueOf(type, query.all(name));
    if (value !== undefined) options[name] = value;
  }
  return options;
}

/** Returns undefined for a value that Go would omit. */
function valueOf(type: FieldType, texts: readonly string[]): JsonValue | undefined {
  if (texts.length === 0) return undefined;
  if (type.form === 'list') return isInteger(type.of) ? texts.flatMap((text) => text.split(',')).map(port) : [...texts];
  if (type.form !== 'scalar') return undefined;
  if (type.scalar === 'bool') return isTrueParameter(texts[0]) || undefined;
  return texts[0] || undefined;
}

const isInteger = (type: FieldType): boolean => type.form === 'scalar' && type.scalar === 'int32';

/** Parses an unsigned integer of 16 bits. The messages are those of Go. */
function port(text: string): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && Number(text) <= 65_535) return Number(text);
  const problem = isNumber ? 'value out of range' : 'invalid syntax';
  throw ApiError.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuote(text)}: ${problem}`);
}
