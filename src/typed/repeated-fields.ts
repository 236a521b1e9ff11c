import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';

/**
 * Merges duplicate fields of an object as Go's encoding/json decodes them: each occurrence is laid over the earlier
 * ones. Structs and maps merge, items of lists merge by index, a map value replaces the one before, and null clears
 * what can be nil. All occurrences but the first have `mark` after their names.
 */
export function mergeRepeated(value: JsonValue, type: StructType, mark: string): JsonValue {
  return new Merge(mark).value(undefined, value, type);
}

class Merge {
  constructor(private readonly mark: string) {}

  value(before: JsonValue | undefined, value: JsonValue, type: FieldType | undefined): JsonValue {
    if (Array.isArray(value)) {
      const of = type?.form === 'list' ? type.of : undefined;
      const items = of && Array.isArray(before) ? before : [];
      return value.map((item, index) => this.value(items[index], item, of));
    }
    if (!isJsonObject(value)) return value;
    // Merged in key: `before` is a copy already, so that many occurrences take linear time.
    const left = isJsonObject(before) ? before : {};
    if (type?.form === 'struct') return this.struct(left, value, type);
    return this.each(type?.form === 'map' ? left : {}, value, (_name, _before, next) =>
      this.value(undefined, next, type?.form === 'map' ? type.of : undefined),
    );
  }

  private struct(before: JsonObject, value: JsonObject, type: StructType): JsonObject {
    return this.each(before, value, (name, earlier, next) => {
      const field = type.byName.get(name);
      if (next === null) return earlier !== undefined && field && !canBeNull(field) ? earlier : null;
      return this.value(earlier, next, field?.type);
    });
  }

  private each(
    result: JsonObject,
    value: JsonObject,
    laid: (name: string, before: JsonValue | undefined, next: JsonValue) => JsonValue,
  ): JsonObject {
    for (const [key, next] of Object.entries(value)) {
      const end = key.indexOf(this.mark);
      const name = end < 0 ? key : key.slice(0, end);
      result[name] = laid(name, Object.hasOwn(result, name) ? result[name] : undefined, next);
    }
    return result;
  }
}

function canBeNull({ isPointer, type: { form } }: Field): boolean {
  return isPointer || form === 'list' || form === 'map' || form === 'value';
}
