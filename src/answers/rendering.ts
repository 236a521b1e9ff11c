import type { EncodedObject, Rendering, WatchEventType } from '../cache/encoded-object.js';
import { json } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { decodeJson, encodeJson, parseJson, stringifyJson } from '../codec/json.js';
import type { Transform } from '../codec/negotiate.js';
import { apiVersionOf } from '../machinery/gvk.js';
import { ApiError, type Status } from '../machinery/api-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { CallTrace } from '../std/call-trace.js';
import type { Clock } from '../std/clock.js';
import type { Steps } from '../std/steps.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { toServedVersion } from '../registry/definition/served-version.js';
import { CommonShapes, type IncludeObject, type ListMeta } from './common-shapes.js';
import { convertAhead } from './convert-ahead.js';
import { metadataBytes } from './metadata-bytes.js';
import { textList } from './text-list.js';

export interface Representation {
  readonly encoding: Encoding;
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
  readonly includeObject: IncludeObject;
}

/**
 * A list as byte ranges: head, items, separators and tail. `itemStart` and `itemEnd` cut an item out of the bytes of
 * its object.
 */
export interface ListRendering {
  /** Renderings of the same object with equal ids have the same items. */
  readonly id: string;
  readonly mediaType: string;
  head(meta: ListMeta, itemsLength: number): Buffer;
  /** Precedes every item but the first; may include the opening bytes of the item. */
  readonly separator: Buffer;
  /** The number of separator bytes that the first item leaves out. */
  readonly firstSkip: number;
  /** `parsed` is the parsed object, if the caller has it. */
  bytesOf(object: EncodedObject, parsed?: KubeObject): Buffer;
  /** bytesOf() of a parsed object in steps, for encodings that support it. */
  bytesInSteps?(object: EncodedObject, parsed: KubeObject): Steps<Buffer>;
  /** True if bytesOf() would parse the object: neither its own bytes nor a kept rendering can be used. */
  parses(object: EncodedObject): boolean;
  itemStart(bytes: Buffer): number;
  itemEnd(bytes: Buffer): number;
  /** Set if bytesOf() are those of the object and its item ends with them: the start of the item in them. */
  ownItemStart?(object: EncodedObject): number;
  tail(meta: ListMeta): Buffer;
  /**
   * True if objects keep the bytes of this rendering, so that reading them again is free. Rows of Tables are computed
   * each time.
   */
  readonly isKept: boolean;
}

const framePrefix: Record<WatchEventType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
};
const frameEnd = Buffer.from('}\n');
const jsonFrame = (type: WatchEventType, body: Buffer): Buffer => Buffer.concat([framePrefix[type], body, frameEnd]);
const noColumns = Buffer.from('"columnDefinitions":null');

/** The representations of the objects of one kind: per encoding, served version, Table and PartialObjectMetadata. */
export class Renderings {
  private readonly byId = new Map<string, Rendering>();
  private readonly typeHead: Buffer;
  private readonly shapes: CommonShapes;
  /** The most frequent list, which depends on nothing else. */
  private plainList: ListRendering | undefined;

  constructor(
    private readonly definition: ResourceDefinition,
    private readonly parts: { readonly metaGroup: string; readonly initialEventsEnd: string; readonly clock: Clock },
  ) {
    this.shapes = new CommonShapes(definition, parts.clock);
    const { kind, group, version } = definition;
    this.typeHead = typeHeadOf(kind, apiVersionOf(group, version));
  }

  /**
   * Returns the rendering of single objects and watch events. Equal representations share one rendering and its bytes.
   */
  of(representation: Representation): Rendering {
    const { encoding, pretty, transform, includeObject } = representation;
    const shape = transform === undefined ? '' : `;${transform.as};${transform.version}`;
    const rows = transform?.as === 'Table' ? `;${includeObject}` : '';
    const { hub, group, version } = this.definition;
    const served = hub ? `;${apiVersionOf(group, version)}` : '';
    const id = `${encoding.name}${pretty ? ';pretty' : ''}${shape}${rows}${served}`;
    let rendering = this.byId.get(id);
    if (!rendering) this.byId.set(id, (rendering = this.createRendering(id, representation)));
    return rendering;
  }

  /** True if the bytes of the cache are sent unchanged. */
  isIdentity(representation: Representation): boolean {
    return this.definition.hub === undefined && Renderings.isPlainJson(representation);
  }

  /** True for compact JSON without Table or metadata transform: lists are then joined from the bytes of their items. */
  static isPlainJson({ encoding, pretty, transform }: Representation): boolean {
    return encoding.name === 'json' && !pretty && transform === undefined;
  }

  /** Returns a cached object in the served version. */
  parse(object: EncodedObject, parsed?: KubeObject): KubeObject {
    const { definition } = this;
    // The JSON that another server has converted to is kept, so that it is not asked again.
    if (definition.hub?.fromHubAhead) return parseJson(object.rendered(this.of(plainJson), parsed)) as never;
    return toServedVersion(definition, parsed ?? object.parse());
  }

  /**
   * Converts the objects if another server does that: renderings of objects that are not converted throw NotReady.
   * Returns undefined if there is nothing to wait for.
   */
  ready(objects: readonly EncodedObject[], clock: Clock, trace: CallTrace | undefined): Promise<void> | undefined {
    const { hub } = this.definition;
    if (!hub?.fromHubAhead) return undefined;
    const rendering = this.of(plainJson);
    const missing = objects.filter((object) => !object.corruption && !object.hasRendering(rendering));
    return missing.length > 0 ? convertAhead(missing, rendering, hub.fromHubAhead, clock, trace) : undefined;
  }

  shaped(object: KubeObject, { transform, includeObject }: Representation): unknown {
    if (transform === undefined) return object;
    if (transform.as === 'PartialObjectMetadataList') throw notAcceptable(transform.as, 'not a list', object.kind);
    return transform.as === 'Table'
      ? this.shapes.table(
          [object],
          // The result of a dry run has no resourceVersion.
          object.metadata.resourceVersion === undefined ? {} : { resourceVersion: object.metadata.resourceVersion },
          transform,
          includeObject,
          this.shapes.tableOf(object).columns,
        )
      : this.shapes.metadataOnly(object, transform);
  }

  /** Computes a whole list at once, for encodings that cannot join it from the bytes of its items. */
  shapedList(objects: readonly KubeObject[], meta: ListMeta, { transform, includeObject }: Representation): unknown {
    if (transform?.as === 'Table')
      return this.shapes.table(objects, meta, transform, includeObject, this.definition.table.columns);
    if (transform) {
      if (transform.as === 'PartialObjectMetadata')
        throw notAcceptable(transform.as, 'a list', this.definition.listKind);
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: apiVersionOf(transform.group, transform.version),
        metadata: meta,
        items: objects.map((object) => this.shapes.metadataOnly(object, transform)),
      };
    }
    return { ...this.listType(undefined), metadata: meta, items: objects.map((object) => this.listItem(object)) };
  }

  /**
   * Returns the parts of a list that is joined from the bytes of its items; undefined if it must be encoded as a whole.
   */
  joinedList(representation: Representation, count: number): ListRendering | undefined {
    const { encoding, pretty, transform } = representation;
    if (transform?.as === 'PartialObjectMetadata')
      throw notAcceptable(transform.as, 'a list', this.definition.listKind);
    const isHumanReadable = encoding.name === 'yaml' || (pretty && encoding.name === 'json');
    if (isHumanReadable) return count > 0 ? this.textList(representation) : undefined;
    if (transform?.as === 'Table') return encoding.name === 'json' ? this.jsonRows(representation) : undefined;
    if (encoding.name === 'json')
      return transform ? this.jsonMetadata(transform) : (this.plainList ??= this.jsonList());
    const { list, mediaType } = encoding;
    if (!list) return undefined;
    const { kind, apiVersion } = this.listType(transform);
    const rendering = this.ofItems(representation);
    return {
      ...list,
      id: rendering.id,
      mediaType,
      firstSkip: 0,
      isKept: true,
      tail: (metadata) => list.tail({ kind, apiVersion, metadata }),
      head: (metadata, itemsLength) => list.head({ kind, apiVersion, metadata }, itemsLength, count),
      bytesOf: (object, parsed) => object.rendered(rendering, parsed),
      parses: (object) => !object.hasRendering(rendering),
    };
  }

  private ofItems(representation: Representation): Rendering {
    const rendering = this.of(itemsOf(representation));
    const { list } = representation.encoding;
    if (!list?.encodeItem) return rendering;
    const carriesType = representation.transform !== undefined || this.definition.itemsCarryType;
    const id = `${rendering.id};${carriesType ? 'typed ' : ''}item`;
    let ofItem = this.byId.get(id);
    if (!ofItem) {
      const shape = (object: EncodedObject, parsed?: KubeObject) =>
        this.shaped(this.parse(object, parsed), itemsOf(representation)) as KubeObject;
      ofItem = { ...rendering, id, render: (object, parsed) => list.encodeItem!(shape(object, parsed), carriesType) };
      this.byId.set(id, ofItem);
    }
    return ofItem;
  }

  private listType(transform: Transform | undefined): { readonly kind: string; readonly apiVersion: string } {
    const { listKind, group, version } = this.definition;
    return transform
      ? { kind: transform.as, apiVersion: apiVersionOf(transform.group, transform.version) }
      : { kind: listKind, apiVersion: apiVersionOf(group, version) };
  }

  /** JSON lists of whole objects: items are slices of the cache's bytes. */
  private jsonList(): ListRendering {
    const start = this.typeHead.length;
    const rendering = this.of(plainJson);
    const { hub, itemsCarryType } = this.definition;
    return {
      ...jsonItems,
      id: rendering.id,
      head: (meta) => Buffer.from(`${jsonListHead(this.listType(undefined), meta)},"items":[`),
      separator: Buffer.from(',{'),
      // Items of built-in kinds have no kind and apiVersion in lists. Their opening brace is in the separator.
      itemStart: itemsCarryType ? () => 1 : (bytes) => (metadataIsAt((at) => bytes[at], start) ? start : 1),
      ...(!hub && {
        ownItemStart: itemsCarryType
          ? () => 1
          : (object: EncodedObject) => (metadataIsAt((at) => object.byteAt(at), start) ? start : 1),
      }),
      bytesOf: hub ? (object, parsed) => object.rendered(rendering, parsed) : ({ bytes }) => bytes,
      parses: (object) => hub !== undefined && !object.hasRendering(rendering),
    };
  }

  private jsonMetadata(transform: Transform): ListRendering {
    const rendering = this.of(itemsOf({ ...plainJson, transform }));
    return {
      ...jsonItems,
      id: rendering.id,
      head: (meta) => Buffer.from(`${jsonListHead(this.listType(transform), meta)},"items":[`),
      bytesOf: (object, parsed) => object.rendered(rendering, parsed),
      parses: (object) => !object.hasRendering(rendering),
    };
  }

  private jsonRows(representation: Representation): ListRendering {
    const { transform, includeObject } = representation;
    const nowMs = this.parts.clock.now();
    const columns = stringifyJson(this.shapes.columns(this.definition.table.columns));
    return {
      ...jsonItems,
      id: this.of(representation).id,
      isKept: false,
      head: (meta) =>
        Buffer.from(`${jsonListHead(this.listType(transform), meta)},"columnDefinitions":${columns},"rows":[`),
      bytesOf: (object, parsed) =>
        encodeJson(this.shapes.row(this.parse(object, parsed), transform!, includeObject, nowMs)),
      parses: () => true,
    };
  }

  /** YAML and indented JSON: encoded item by item, so that a long list does not block the event loop. */
  private textList(representation: Representation): ListRendering | undefined {
    const { encoding, transform, includeObject } = representation;
    const nowMs = this.parts.clock.now();
    const isTable = transform?.as === 'Table';
    const whole = (metadata: ListMeta) => ({
      ...this.listType(transform),
      metadata,
      ...(isTable && { columnDefinitions: this.shapes.columns(this.definition.table.columns) }),
    });
    const list = textList(encoding, whole, isTable ? 'rows' : 'items');
    const shownItem = (object: EncodedObject, parsed: KubeObject | undefined) => {
      const shown = this.parse(object, parsed);
      if (isTable) return this.shapes.row(shown, transform, includeObject, nowMs);
      return transform ? this.shapes.metadataOnly(shown, transform) : this.listItem(shown);
    };
    return (
      list && {
        id: this.of(representation).id,
        mediaType: encoding.mediaType,
        head: (meta) => list.head(meta),
        separator: list.separator,
        firstSkip: list.separator.length,
        parses: () => true,
        bytesOf: (object, parsed) => list.item(shownItem(object, parsed)),
        ...(list.itemInSteps && {
          bytesInSteps: (object: EncodedObject, parsed: KubeObject) => list.itemInSteps!(shownItem(object, parsed)),
        }),
        itemStart: () => 0,
        itemEnd: (bytes) => bytes.length,
        tail: (meta) => list.tail(meta),
        isKept: false,
      }
    );
  }

  /** Removes kind and apiVersion from items of built-in kinds, as kube-apiserver does. */
  private listItem(object: KubeObject): unknown {
    if (this.definition.itemsCarryType) return object;
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    return item;
  }

  /** Encodes one object for a response. Bytes that other requests may share are kept by the object. */
  objectBytes(object: EncodedObject, representation: Representation, parsed?: KubeObject): Buffer {
    const { encoding, pretty } = representation;
    if (isKept(representation)) return object.rendered(this.of(representation), parsed);
    return encoding.encode(this.shaped(this.parse(object, parsed), representation), { pretty });
  }

  /** objectBytes() in steps, for large objects. */
  *objectBytesInSteps(object: EncodedObject, representation: Representation): Steps<Buffer> {
    if (!this.parses(object, representation)) return this.objectBytes(object, representation);
    const parsed = yield* object.parseInSteps();
    yield;
    const { encoding } = representation;
    if (!encoding.encodeInSteps || isKept(representation)) return this.objectBytes(object, representation, parsed);
    const shaped = this.shaped(this.parse(object, parsed), representation);
    yield;
    return yield* encoding.encodeInSteps(shaped);
  }

  /** True if objectBytes() would parse the object because it has not kept these bytes. */
  parses(object: EncodedObject, representation: Representation): boolean {
    return !isKept(representation) || !object.hasRendering(this.of(representation));
  }

  /** Inserts columnDefinitions into the first frame of a Table watch. Later frames leave them out. */
  withColumns(frame: Buffer): Buffer {
    const at = frame.indexOf(noColumns);
    if (at < 0) return frame;
    const columns = encodeJson(this.shapes.columns(this.definition.table.columns));
    return Buffer.concat([
      frame.subarray(0, at),
      Buffer.from('"columnDefinitions":'),
      columns,
      frame.subarray(at + noColumns.length),
    ]);
  }

  private createRendering(id: string, representation: Representation): Rendering {
    const { encoding, transform, includeObject } = representation;
    const pretty = representation.pretty;
    const encode = (value: unknown) => encoding.encode(value, { pretty });
    const shapedForWatch = (object: KubeObject): unknown =>
      transform?.as === 'Table'
        ? this.shapes.table(
            [object],
            { resourceVersion: object.metadata.resourceVersion ?? '' },
            transform,
            includeObject,
            undefined,
          )
        : this.shaped(object, representation);
    const identity = this.isIdentity(representation);
    const isPlain = Renderings.isPlainJson(representation);
    const isJson = encoding.name === 'json' && !pretty;
    const { hub, fieldAnnotations } = this.definition;
    const cutsMetadata = transform?.as === 'PartialObjectMetadata' && !hub && !fieldAnnotations;
    const cutHead =
      cutsMetadata && isJson
        ? typeHeadOf(transform.as, apiVersionOf(transform.group, transform.version))
        : this.typeHead;
    const frame = encoding.frame ?? jsonFrame;
    const { clock } = this.parts;
    return {
      id,
      ...(transform?.as === 'Table' && { timeBucket: () => Math.floor(clock.now() / 1000) }),
      isPinned: isPlain && this.definition.hub?.fromHubAhead !== undefined,
      render: (object, parsed) => {
        if (identity) return object.bytes;
        if (isPlain) return encode(toServedVersion(this.definition, parsed ?? object.parse()));
        if (parsed || !cutsMetadata) return encode(shapedForWatch(this.parse(object, parsed)));
        // Most of the time is that of parsing, so only the metadata is parsed, and for JSON nothing.
        const cut = metadataBytes(object.bytes, this.typeHead, cutHead);
        if (cut && isJson) return cut;
        return encode(shapedForWatch(cut ? (decodeJson(cut) as never) : this.parse(object)));
      },
      frame,
      bookmark: (revision, initialEventsEnd) => {
        const { kind, group, version } = this.definition;
        const mark: KubeObject = {
          kind,
          apiVersion: apiVersionOf(group, version),
          metadata: {
            resourceVersion: String(revision),
            ...(initialEventsEnd && { annotations: { [this.parts.initialEventsEnd]: 'true' } }),
          },
        };
        return frame('BOOKMARK', encode(shapedForWatch(mark)));
      },
      error: (status: Status) => frame('ERROR', encode(status)),
    };
  }
}

function isKept({ encoding, pretty, transform }: Representation): boolean {
  if (pretty || encoding.streamMediaType === undefined) return false;
  return !transform || transform.as === 'PartialObjectMetadata';
}

/** Returns the representation of a single item of the list. */
function itemsOf(list: Representation): Representation {
  const { transform } = list;
  return transform?.as === 'PartialObjectMetadataList'
    ? { ...list, transform: { ...transform, as: 'PartialObjectMetadata' } }
    : list;
}

const jsonTail = Buffer.from(']}\n');
const jsonItems = {
  mediaType: json.mediaType,
  separator: Buffer.from(','),
  firstSkip: 1,
  itemStart: () => 0,
  itemEnd: (bytes: Buffer) => bytes.length,
  tail: () => jsonTail,
  isKept: true,
} as const;

function jsonListHead({ kind, apiVersion }: { kind: string; apiVersion: string }, meta: ListMeta): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${stringifyJson(meta)}`;
}

const plainJson: Representation = { encoding: json, pretty: false, transform: undefined, includeObject: 'Metadata' };

const typeHeadOf = (kind: string, apiVersion: string): Buffer =>
  Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}",`);

function notAcceptable(asked: string, what: string, kind: string): ApiError {
  const message = `you requested ${asked}, but the requested object is ${what} (${kind})`;
  return new ApiError({ reason: 'NotAcceptable', message });
}

/**
 * True if the metadata of an object begins at byte `at`. Cached objects begin with kind, apiVersion and metadata, and
 * the first two cannot contain a quote, so three bytes are enough.
 */
function metadataIsAt(byteAt: (position: number) => number | undefined, at: number): boolean {
  return byteAt(at - 1) === 0x2c && byteAt(at) === 0x22 && byteAt(at + 1) === 0x6d;
}
