import { createRequire } from 'node:module';
import type * as JsYaml from 'js-yaml';
import { ApiError } from '../machinery/api-error.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import type { Steps } from '../std/steps.js';
import { jsonDepthMax } from './json.js';
import { ValueBudget } from './value-budget.js';
import { MetadataPath } from './metadata-path.js';
import { longScalarValue, longScalarCharacters } from './yaml-long-scalar.js';
import { resolvePlain, type PlainValue } from './yaml-scalar.js';

/**
 * Builds the first document of a YAML text from the parser's events: keys become strings, duplicate keys are reported
 * with their lines, and the size of expanded aliases is limited.
 */
interface YamlDocument {
  readonly value: JsonValue;
  readonly duplicates: readonly { readonly line: number; readonly key: string }[];
}

/** Limits on the nodes and characters that aliases add to a document. */
const aliasedNodesMax = 100_000;
const aliasedCharactersMax = 3 * 1024 * 1024;
/** The parser visits each line several times: three million empty ones would take too long. */
const linesMax = 1_000_000;
/** Limit on reported duplicate keys. */
const duplicatesMax = 100;

let loaded: typeof JsYaml | undefined;
/** Imported on first use: few servers decode YAML from clients. */
function jsYaml(): typeof JsYaml {
  return (loaded ??= createRequire(import.meta.url)('js-yaml') as typeof JsYaml);
}

/** Throws DecodeError, and ApiError (413) for more values than `valuesMax` or more than a million lines. */
export function* readYaml(stream: string, valuesMax = Infinity): Steps<YamlDocument> {
  const { parseEvents, YAMLException } = jsYaml();
  requireLinesWithin(stream);
  const text = firstDocument(stream);
  try {
    const events = parseEvents(text, { maxDepth: countedDepth(valuesMax, hasRecord(text) ? 2 : 1) });
    yield;
    return new Builder(text, events, new ValueBudget(valuesMax)).document();
  } catch (error) {
    if (error instanceof YAMLException) throw new DecodeError(problemText(error), { cause: error });
    throw error;
  }
}

const documentMarker = /(?:^|[\n\r])(---|\.\.\.)(?=[ \t\r\n]|$)/g;
/** A line that is not blank, a comment or a directive. */
const contentLine = /(?:^|[\n\r])[ \t\uFEFF]*[^\s#%]/;

/** The text up to the end of the first document: the parser would read the 700,000 behind it, too. */
function firstDocument(stream: string): string {
  let hasBegun = false;
  let behindMarker = 0;
  for (const { index, 0: match, 1: marker } of stream.matchAll(documentMarker)) {
    hasBegun ||= contentLine.test(stream.slice(behindMarker, index));
    if (hasBegun) return stream.slice(0, index + 1);
    behindMarker = index + match.length;
    hasBegun = marker === '---';
  }
  return stream;
}

function requireLinesWithin(text: string): void {
  if (text.length <= linesMax) return;
  let left = linesMax;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if ((unit === 0x0a || unit === 0x0d) && --left < 0)
      throw ApiError.requestEntityTooLarge(`Request entity too large: limit is ${linesMax} lines of YAML`);
  }
}

/** True if the text may contain metadata.managedFields, whose values have a limit of their own. */
const hasRecord = (text: string): boolean => text.includes('managedFields');

/** A mapping's key is a node too, and the parser starts some nodes twice. */
const nodesPerValueMax = 3;

/**
 * The parser limits depth only, and creates an event for every node before it returns. It reads the limit at the start
 * of each node: an object that counts these reads stops the parser early.
 */
function countedDepth(valuesMax: number, times: number): number {
  const values = new ValueBudget(valuesMax);
  let nodes = 0;
  const bound = {
    [Symbol.toPrimitive](): number {
      if (++nodes % (times * nodesPerValueMax) === 0) values.take();
      return jsonDepthMax;
    },
  };
  return bound as unknown as number;
}

const problems: readonly [RegExp, string][] = [
  [/bad indentation of a mapping entry/, 'mapping values are not allowed in this context'],
  [/tab characters must not be used/, 'found character that cannot start any token'],
  [/unexpected end of the stream within a (double|single) quoted/, 'found unexpected end of stream'],
  [/unexpected end of the stream within a flow/, "did not find expected ',' or ']'"],
  [/nesting exceeded|maxDepth|depth/i, 'exceeded max depth'],
];

/**
 * Translates js-yaml's messages to those of kube-apiserver where known; lines are named from the second on, as there.
 */
function problemText(error: InstanceType<typeof JsYaml.YAMLException>): string {
  const reason = problems.find(([pattern]) => pattern.test(error.reason))?.[1] ?? error.reason;
  const line = error.mark?.line ?? 0;
  return line > 0 ? `yaml: line ${line + 1}: ${reason}` : `yaml: ${reason}`;
}

const mergeKey = Symbol('<<');
type Key = string | typeof mergeKey;

class Builder {
  private at = 0;
  private readonly path = new MetadataPath();
  private aliasedNodes = 0;
  private aliasedCharacters = 0;
  /** Position of the last line lookup: the next one is after it. */
  private linePosition = 0;
  private line = 1;
  private readonly anchors = new Map<string, JsonValue>();
  private readonly duplicates: { line: number; key: string }[] = [];
  private readonly ids: typeof JsYaml.EVENT_ID;
  constructor(
    private readonly text: string,
    private readonly events: readonly JsYaml.Event[],
    private readonly values: ValueBudget,
  ) {
    this.ids = jsYaml().EVENT_ID;
  }

  document(): YamlDocument {
    if (this.events.length === 0) return { value: null, duplicates: [] };
    this.at = 1;
    const isEmpty = this.events[1]?.type === this.ids.POP || this.events[1] === undefined;
    return { value: isEmpty ? null : this.node(), duplicates: this.duplicates };
  }

  private node(): JsonValue {
    this.values.take();
    const event = this.events[this.at++]!;
    switch (event.type) {
      case this.ids.SCALAR: {
        const value = this.jsonScalar(event);
        return this.anchored(event, value);
      }
      case this.ids.ALIAS:
        return this.alias(event);
      case this.ids.SEQUENCE: {
        const items: JsonValue[] = [];
        while (this.events[this.at]!.type !== this.ids.POP) items.push(this.node());
        this.at++;
        return this.anchored(event, items);
      }
      default:
        return this.anchored(event as JsYaml.MappingEvent, this.mapping());
    }
  }

  private mapping(): JsonValue {
    const own: Record<string, JsonValue> = {};
    const merged: JsonValue[] = [];
    this.path.open();
    while (this.events[this.at]!.type !== this.ids.POP) {
      const position = this.positionOf(this.events[this.at]!);
      const key = this.key();
      const isRepeated = key !== mergeKey && Object.hasOwn(own, key) && this.duplicates.length < duplicatesMax;
      // Looked up here, since positions only grow: duplicates inside the value come later.
      const line = isRepeated ? this.lineOf(position) : 0;
      const hasEntered = this.path.isManagedFields(key) && this.values.enterManagedFields();
      const value = this.node();
      if (hasEntered) this.values.leaveManagedFields();
      if (key === mergeKey) {
        if (!Array.isArray(value)) merged.push(value);
        else for (const source of value) merged.push(source);
        continue;
      }
      if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
      if (isRepeated) this.duplicates.push({ line, key });
      own[key] = value;
    }
    this.at++;
    this.path.close();
    for (const source of merged) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        throw new DecodeError('yaml: map merge requires map or sequence of maps as the value');
      }
      for (const key in source) {
        if (Object.hasOwn(own, key)) continue;
        this.values.take();
        own[key] = source[key]!;
      }
    }
    return own;
  }

  private key(): Key {
    const event = this.events[this.at]!;
    if (event.type === this.ids.SCALAR) {
      this.at++;
      const scalar = event;
      const source = this.source(scalar);
      if (source === '<<' && this.isPlain(scalar)) return mergeKey;
      const value = this.scalar(scalar, source);
      if (value === null) throw new DecodeError('error converting YAML to JSON: a map key must not be null');
      this.anchored(scalar, source);
      return String(value);
    }
    const value = this.node();
    if (typeof value === 'object') {
      throw new DecodeError('error converting YAML to JSON: a map key must be a text, a number or a truth value');
    }
    return String(value);
  }

  private jsonScalar(event: JsYaml.ScalarEvent): JsonValue {
    const value = this.scalar(event, this.source(event));
    if (typeof value === 'number' && !Number.isFinite(value)) {
      const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
      throw new DecodeError(`error converting YAML to JSON: json: unsupported value: ${shown}`);
    }
    return value;
  }

  private scalar(event: JsYaml.ScalarEvent, source: string): PlainValue {
    const tag = event.tagStart < 0 ? '' : this.text.slice(event.tagStart, event.tagEnd);
    if (tag === '' || tag === '!!int' || tag === '!!float' || tag === '!!bool' || tag === '!!null') {
      return this.isPlain(event) || tag !== '' ? resolvePlain(source) : source;
    }
    return tag === '!!binary' ? Buffer.from(source, 'base64').toString('utf8') : source;
  }

  private source(event: JsYaml.ScalarEvent): string {
    if (event.valueStart < 0) return '';
    if (event.valueEnd - event.valueStart >= longScalarCharacters) return longScalarValue(this.text, event, jsYaml());
    return jsYaml().getScalarValue(this.text, event);
  }
  private isPlain(event: JsYaml.ScalarEvent): boolean {
    return event.style === jsYaml().SCALAR_STYLE.PLAIN && event.tagStart < 0;
  }

  private anchored<T extends JsonValue>(event: { anchorStart: number; anchorEnd: number }, value: T): T {
    if (event.anchorStart >= 0) this.anchors.set(this.text.slice(event.anchorStart, event.anchorEnd), value);
    return value;
  }

  private alias(event: JsYaml.AliasEvent): JsonValue {
    const name = this.text.slice(event.anchorStart, event.anchorEnd);
    const value = this.anchors.get(name);
    if (value === undefined) throw new DecodeError(`yaml: unknown anchor '${name}' referenced`);
    return this.copy(value);
  }

  private copy(value: JsonValue): JsonValue {
    if (typeof value === 'string') this.aliasedCharacters += value.length;
    if (++this.aliasedNodes > aliasedNodesMax || this.aliasedCharacters > aliasedCharactersMax) {
      throw new DecodeError('yaml: document contains excessive aliasing');
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.copyPart(item));
    const copy: Record<string, JsonValue> = {};
    for (const key in value) {
      this.aliasedCharacters += key.length;
      copy[key] = this.copyPart(value[key]!);
    }
    return copy;
  }

  private copyPart(value: JsonValue): JsonValue {
    this.values.take();
    return this.copy(value);
  }

  private positionOf(event: JsYaml.Event): number {
    if ('valueStart' in event) return event.valueStart;
    return 'start' in event ? event.start : 0;
  }
  private lineOf(position: number): number {
    const { text } = this;
    for (let at = text.indexOf('\n', this.linePosition); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) {
      this.line++;
      this.linePosition = at + 1;
    }
    return this.line;
  }
}
