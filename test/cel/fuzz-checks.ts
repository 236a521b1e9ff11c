import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeFunctions } from '../../src/cel/check/declarations.js';
import type { Schema } from '../../src/cel/declared/schema-type.js';
import { schemaType } from '../../src/cel/declared/schema-type.js';
import type { Environment } from '../../src/cel/environment.js';
import { kubernetesEnvironment, kubernetesLibraries } from '../../src/cel/kubernetes.js';
import type { AccessCheck, AccessDecision } from '../../src/cel/libraries/kubernetes/authorizer.js';
import { Authorizer, authorizerType } from '../../src/cel/libraries/kubernetes/authorizer.js';
import { re2Engine } from '../../src/cel/re2-engine.js';
import { CelType, types } from '../../src/cel/types.js';
import { isList, listAt, listSize } from '../../src/cel/values/lists.js';
import { isMap } from '../../src/cel/values/maps.js';
import type { Value } from '../../src/cel/values/value.js';
import { OpaqueValue, Optional, typeOf } from '../../src/cel/values/value.js';
import type { Rng } from '../../src/std/rng.js';
import { SeededRng } from '../../src/std/rng.js';
import { RandomPrograms } from './random-programs.js';
import { randomJson, randomValue } from './random-values.js';
import { show } from './vectors.js';

/** The limits of Kubernetes: an evaluation of a rule. */
const costLimit = 1_000_000;

interface Statistics {
  programs: number;
  compiled: number;
  evaluated: number;
  errors: number;
  overLimit: number;
  /** The most CPU time of a compilation and an evaluation, and its program; `cost` is that of the evaluation. */
  worst: { ms: number; cost: number; program: string };
}

interface FuzzLimits {
  /**
   * CPU time of a compilation and an evaluation in milliseconds, for each 10,000 characters of the program, besides that
   * for which its cost pays.
   */
  readonly msMax: number;
  /** The time that a unit of cost pays for. */
  readonly microsPerCost: number;
}

/** Compiles and evaluates random programs on random values, and finds what must not happen. */
export class CelFuzz {
  readonly statistics: Statistics = {
    programs: 0,
    compiled: 0,
    evaluated: 0,
    errors: 0,
    overLimit: 0,
    worst: { ms: 0, cost: 0, program: '' },
  };
  private readonly rng: Rng;
  private readonly schema: Schema;
  private readonly environment: Environment;
  private readonly programs: RandomPrograms;
  private bindings: Record<string, unknown> = {};

  constructor(
    seed: number,
    private readonly limits: FuzzLimits,
  ) {
    this.rng = new SeededRng(seed);
    const fixture = readFileSync(join(__dirname, '../../src/cel/fixtures/world.json'), 'utf8');
    this.schema = (JSON.parse(fixture) as { schema: Schema }).schema;
    const options = {
      regex: re2Engine(),
      compatibilityVersion: { major: 1, minor: 36 },
      mode: 'new',
    } as const;
    const self = schemaType(this.schema, 'Thing')!;
    const variables = { any: types.dyn, vi: types.int, vs: types.string, vd: types.double, authorizer: authorizerType };
    this.environment = kubernetesEnvironment({ ...options, variables: { ...variables, self } });
    const functions = mergeFunctions(kubernetesLibraries(options).flatMap((library) => library.functions ?? []));
    this.programs = new RandomPrograms({ rng: this.rng, functions: functions.values(), self, variables });
  }

  /** Tries one program; returns what is wrong with it, if anything. */
  next(): string | undefined {
    if (this.statistics.programs++ % 100 === 0) this.bindings = this.randomBindings();
    const program = this.programs.next();
    try {
      const problem = this.problemOf(program);
      return problem === undefined ? undefined : `${problem}\n${program}`;
    } catch (error) {
      return `${(error as Error).stack}\n${program}`;
    }
  }

  private randomBindings(): Record<string, unknown> {
    return {
      self: randomValue(this.rng, this.schema),
      any:
        this.rng.below(3) === 0
          ? randomJson(this.rng)
          : { list: [1, 'a', null], strs: ['a', 1], map: { a: 1 }, nested: { deep: [] } },
      vi: this.rng.below(100),
      vs: 'abc '.repeat(this.rng.below(50)),
      vd: this.rng.below(100) / 8,
      authorizer: new Authorizer(decide),
    };
  }

  private problemOf(program: string): string | undefined {
    const startedMs = performance.now();
    const first = this.answer(program);
    const ms = performance.now() - startedMs;
    const problem = first.problem ?? this.timeProblem(program, ms, first.cost);
    if (problem !== undefined) return problem;
    const second = this.answer(program);
    return first.text === second.text ? undefined : `differs the second time: ${first.text} and ${second.text}`;
  }

  private timeProblem(program: string, firstMs: number, cost: number): string | undefined {
    const { statistics, limits } = this;
    if (firstMs <= statistics.worst.ms) return undefined;
    // The first time includes other programs of the machine, the collection of garbage and JavaScript's own compilation.
    const ms = Math.min(firstMs, ...Array.from({ length: 3 }, () => cpuMs(() => this.answer(program))));
    if (ms > statistics.worst.ms) statistics.worst = { ms, cost, program };
    const msMax = limits.msMax * Math.max(1, program.length / 10_000) + (cost * limits.microsPerCost) / 1000;
    return ms > msMax ? `takes ${ms.toFixed()} ms, not ${msMax.toFixed()} ms; its cost is ${cost}` : undefined;
  }

  private answer(program: string): { text: string; cost: number; problem?: string | undefined } {
    const { statistics } = this;
    const compiled = this.environment.compile(program);
    if (!compiled.isOk) return { text: compiled.message, cost: 0 };
    statistics.compiled++;
    const { min, max } = compiled.estimatedCost;
    const head = `${compiled.resultType.toString()} ${min} ${max}`;
    if (compiled.program instanceof Error) return { text: `${head} ${compiled.program.message}`, cost: 0 };
    const outcome = compiled.program.evaluate(this.bindings, { costLimit });
    const { cost } = outcome;
    statistics.evaluated++;
    if (!outcome.isOk) {
      statistics[outcome.isOverLimit ? 'overLimit' : 'errors']++;
      const problem = isTypeError(outcome.error) && isFullyTyped(program) ? `unsound: ${outcome.error}` : undefined;
      return { text: `${head} ${cost} ${outcome.error}`, cost, problem };
    }
    const fits = !isFullyTyped(program) || conforms(outcome.value, compiled.resultType);
    const problem = fits ? undefined : `${shownShortly(outcome.value)} is no ${compiled.resultType.toString()}`;
    return { text: `${head} ${cost} ${shownShortly(outcome.value)}`, cost, problem };
  }
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const isTypeError = (error: string): boolean =>
  /no such overload|unsupported (?:index|comprehension)|iterable type/.test(error);

/** True if no part of the program can have a value of another type than its own. */
const isFullyTyped = (program: string): boolean =>
  !/\bany\b|containsIP|dyn|null|\.ios|optional\.none|\[\]|\{\}|flatten|google|type/.test(program);

function conforms(value: Value, type: CelType): boolean {
  if (type.isDyn || type.kind === 'param') return true;
  if (value === null) return type.kind === 'null' || type.isWrapper || type.kind === 'opaque' || isTime(type);
  switch (type.kind) {
    case 'list':
      return isList(value) && (listSize(value) === 0 || conforms(listAt(value, 0), type.params[0]!));
    case 'map': {
      if (!isMap(value)) return false;
      for (const key of value.keys())
        return conforms(key, type.params[0]!) && conforms(value.find(key) ?? null, type.params[1]!);
      return true;
    }
    case 'struct':
      return isMap(value) || value instanceof OpaqueValue;
    case 'type':
      return value instanceof CelType;
    case 'opaque':
      if (!type.isOptional) return typeOf(value).name === type.name;
      return value instanceof Optional && (value.value === undefined || conforms(value.value, type.params[0]!));
    default:
      return typeOf(value).name === type.name;
  }
}
const isTime = ({ kind }: CelType): boolean => kind === 'timestamp' || kind === 'duration';

/** The value as a text of bounded length: values share their parts, so that a text can be far larger than they are. */
function shownShortly(value: Value): string {
  let left = 200;
  const shown = (part: Value): string => {
    if (left-- <= 0) return '';
    if (typeof part === 'string') return part.slice(0, 200);
    if (part instanceof Optional) return part.value === undefined ? 'none' : `optional(${shown(part.value)})`;
    if (isList(part)) {
      const size = listSize(part);
      return `${size}[${Array.from({ length: Math.min(size, 20) }, (_, index) => shown(listAt(part, index))).join()}]`;
    }
    if (!isMap(part)) return show(part);
    const keys = [...part.keys()].slice(0, 20);
    return `${part.size}{${keys.map((key) => `${shown(key)}:${shown(part.find(key) ?? null)}`).join()}}`;
  };
  return shown(value);
}

function decide(check: AccessCheck): AccessDecision {
  if (check.verb === 'fail') return { isAllowed: false, reason: '', error: 'no answer' };
  return { isAllowed: check.verb === 'get', reason: 'rule' };
}
