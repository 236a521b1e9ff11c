import type * as v2 from '../../catalog/types/autoscaling.v2.js';
import { isJsonObject, type JsonValue } from '../../machinery/kube-object.js';

/**
 * The annotation is a Go struct without names for JSON: its fields are capitalized, and all of them are written. Go reads
 * names in either case, and older texts of this server are in lower case.
 */
export function writtenBehavior({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior) {
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

export function withLowerCaseNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withLowerCaseNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      withLowerCaseNames(inner),
    ]),
  );
}
