import { catalogOf, type Catalog } from '../../catalog/catalog.js';
import type * as v1 from '../../catalog/types/autoscaling.v1.js';
import type * as v2 from '../../catalog/types/autoscaling.v2.js';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isJsonObject, type JsonObject, type JsonValue, type ObjectMeta } from '../../machinery/kube-object.js';
import { DecodeError } from '../../std/decode-error.js';
import { ConformError } from '../../typed/conform-error.js';
import { conform } from '../../typed/conform.js';

/** Fields of v2 that v1 keeps in annotations. An absent behavior and empty lists have no annotation. */
interface AnnotatedFields {
  readonly metrics: readonly v1.MetricSpec[];
  readonly behavior: v2.HorizontalPodAutoscalerBehavior | undefined;
  readonly conditions: readonly v2.HorizontalPodAutoscalerCondition[];
  readonly currentMetrics: readonly v1.MetricStatus[];
}

const structs = {
  metrics: 'autoscaling.v1.MetricSpec',
  conditions: 'autoscaling.v2.HorizontalPodAutoscalerCondition',
  currentMetrics: 'autoscaling.v1.MetricStatus',
} as const;

/** Reads and writes the annotations of a v1 HorizontalPodAutoscaler, whose values are JSON. */
export class AutoscalerAnnotations {
  private readonly catalog: Catalog;
  private readonly names: { readonly [Field in keyof AnnotatedFields]: string };

  constructor(naming: NamingProfile) {
    this.catalog = catalogOf(naming);
    const annotation = (name: string) => naming.label(name, 'autoscaling.alpha');
    this.names = {
      metrics: annotation('metrics'),
      behavior: annotation('behavior'),
      conditions: annotation('conditions'),
      currentMetrics: annotation('current-metrics'),
    };
  }

  read(object: v1.HorizontalPodAutoscaler): AnnotatedFields {
    return {
      metrics: this.list(object, 'metrics'),
      behavior: this.decoded(object, 'behavior', (value) => this.behavior(value)),
      conditions: this.list(object, 'conditions'),
      currentMetrics: this.list(object, 'currentMetrics'),
    };
  }

  /** Returns the metadata without these annotations, or with those of the fields. */
  replaced(metadata: ObjectMeta, fields?: AnnotatedFields): ObjectMeta {
    const own = Object.values(this.names);
    const kept = Object.entries(metadata.annotations ?? {}).filter(([name]) => !own.includes(name));
    const { annotations: _annotations, ...rest } = metadata;
    const annotations: Record<string, string> = Object.fromEntries([...kept, ...(fields ? this.texts(fields) : [])]);
    return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
  }

  private texts({ metrics, behavior, conditions, currentMetrics }: AnnotatedFields): [name: string, text: string][] {
    const { names } = this;
    const ofList = (name: string, items: readonly unknown[]): [string, string][] =>
      items.length === 0 ? [] : [[name, stringifyJson(items)]];
    return [
      ...ofList(names.metrics, metrics),
      ...(behavior ? [[names.behavior, stringifyJson(writtenBehavior(behavior))] as [string, string]] : []),
      ...ofList(names.conditions, conditions),
      ...ofList(names.currentMetrics, currentMetrics),
    ];
  }

  private list(object: v1.HorizontalPodAutoscaler, field: keyof typeof structs): readonly JsonObject[] {
    const struct = this.catalog.struct(structs[field]);
    const read = (value: JsonValue) => (Array.isArray(value) ? value.map((item) => conform(item, struct).object) : []);
    return this.decoded(object, field, read) ?? [];
  }

  private behavior(value: JsonValue): v2.HorizontalPodAutoscalerBehavior | undefined {
    if (!isJsonObject(value)) return undefined;
    const type = this.catalog.struct('autoscaling.v2.HorizontalPodAutoscalerBehavior');
    return conform(withLowerCaseNames(value), type, { keepsEmpties: true }).object;
  }

  /** The value of an annotation; undefined if it is not JSON of the type, which kube-apiserver ignores as well. */
  private decoded<T>(
    { metadata }: v1.HorizontalPodAutoscaler,
    field: keyof AnnotatedFields,
    read: (value: JsonValue) => T,
  ): T | undefined {
    const text = metadata.annotations?.[this.names[field]];
    if (text === undefined) return undefined;
    try {
      return read(decodeJson(text));
    } catch (error) {
      if (error instanceof DecodeError || error instanceof ConformError) return undefined;
      throw error;
    }
  }
}

/**
 * The annotation is a Go struct without names for JSON: its fields are capitalized, and all of them are written. Go reads
 * names in either case, and older texts of this server are in lower case.
 */
function writtenBehavior({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior) {
  return { ScaleUp: scaleUp ? writtenRules(scaleUp) : null, ScaleDown: scaleDown ? writtenRules(scaleDown) : null };
}

function writtenRules({ stabilizationWindowSeconds, selectPolicy, policies, tolerance }: v2.HPAScalingRules) {
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies: policies ? policies.map(writtenPolicy) : null,
    Tolerance: tolerance ?? null,
  };
}

const writtenPolicy = ({ type, value, periodSeconds }: v2.HPAScalingPolicy) => ({
  Type: type,
  Value: value,
  PeriodSeconds: periodSeconds,
});

function withLowerCaseNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withLowerCaseNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      withLowerCaseNames(inner),
    ]),
  );
}
