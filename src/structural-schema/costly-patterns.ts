import { asText, type Fields } from '../machinery/fields.js';
import { costOfPattern, patternCharactersMax, patternCostMax } from '../regex/pattern-cost.js';
import { everySchema } from './walk.js';

/** True if compiling the distinct patterns of the schemas would take too long. */
export function hasCostlyPatterns(schemas: readonly Fields[]): boolean {
  const sources = new Set<string>();
  let cost = 0;
  for (const schema of schemas) {
    for (const { pattern } of everySchema(schema)) {
      const source = asText(pattern);
      if (source === '' || sources.has(source)) continue;
      sources.add(source);
      // Longer patterns are refused without being parsed.
      if (source.length <= patternCharactersMax) cost += costOfPattern(source);
      if (cost > patternCostMax) return true;
    }
  }
  return false;
}
