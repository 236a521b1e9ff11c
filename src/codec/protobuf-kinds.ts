import { parseApiVersion } from '../machinery/gvk.js';
import type { TypeSource } from '../machinery/type-model.js';
import { wireTypes } from '../std/protobuf-reader.js';
import { ProtobufWriter } from '../std/protobuf-writer.js';
import { messageOf, type Message } from './protobuf-messages.js';

/** A kind, its message, and the bytes before the message. */
export interface ProtobufKind {
  readonly message: Message;
  /** Magic bytes and TypeMeta of the envelope. */
  readonly head: Buffer;
}

/** Magic bytes of every envelope. */
export const protobufPrefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Kinds that every group has, in every version. */
const commonKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'Status',
  'UpdateOptions',
]);
/** Limit on cached names: clients may send options with any version. */
const versionsMax = 1000;

/** The kinds that have a protobuf message; looked up once each. */
export class ProtobufKinds {
  private readonly known = new Map<string, Map<string, ProtobufKind>>();
  private types: TypeSource | undefined = undefined;

  constructor(private readonly load: () => TypeSource) {}

  of(apiVersion: string, kind: string): ProtobufKind | undefined {
    return this.known.get(apiVersion)?.get(kind) ?? this.find(apiVersion, kind);
  }

  private find(apiVersion: string, kind: string): ProtobufKind | undefined {
    this.types ??= this.load();
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const struct =
      this.types.kind(group, version, kind) ??
      (commonKinds.has(kind) ? this.types.struct(`meta.v1.${kind}`) : undefined);
    const message = struct && messageOf(struct);
    // Table and other meta kinds have no field numbers.
    if (!message || message.descending.length === 0) return undefined;
    const found = { message, head: headOf(apiVersion, kind) };
    if (this.known.size >= versionsMax) this.known.clear();
    const kinds = this.known.get(apiVersion);
    if (kinds) kinds.set(kind, found);
    else this.known.set(apiVersion, new Map([[kind, found]]));
    return found;
  }
}

function headOf(apiVersion: string, kind: string): Buffer {
  const writer = new ProtobufWriter(256);
  writer.string(kind);
  writer.tag(2, wireTypes.bytes);
  writer.string(apiVersion);
  writer.tag(1, wireTypes.bytes);
  writer.lengthSince(0);
  writer.tag(1, wireTypes.bytes);
  writer.raw(protobufPrefix);
  return writer.take();
}
