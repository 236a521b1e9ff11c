import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeFunctions } from '../../src/cel/check/declarations.js';
import type { Schema } from '../../src/cel/declared/schema-type.js';
import { schemaType } from '../../src/cel/declared/schema-type.js';
import type { Environment } from '../../src/cel/environment.js';
import type { Outcome } from '../../src/cel/evaluate/program.js';
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
  /** The slowest compilation and the slowest evaluation, in CPU time. */
  compilation: Slowest;
  evaluation: Slowest;
}

interface Slowest {
  ms: number;
  /** Cost of the evaluation. */
  cost: number;
  program: string;
}

/** CPU time in milliseconds. */
interface FuzzLimits {
  /** Time of a compilation, for each 10,000 characters of the program. */
  readonly compilationMsMax: number;
  readonly evaluationMsMax: number;
}

/** Compiles and evaluates random programs on random values, and finds what must not happen. */
export class CelFuzz {
  readonly statistics: Statistics = {
    programs: 0,
    compiled: 0,
    evaluated: 0,
    errors: 0,
    overLimit: 0,
    compilation: { ms: 0, cost: 0, program: '' },
    evaluation: { ms: 0, cost: 0, program: '' },
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
    const first = this.answer(program);
    const problem = first.problem ?? this.timeProblem(program, first);
    if (problem !== undefined) return problem;
    const second = this.answer(program);
    if (first.text === second.text) return undefined;
    return `differs the second time: ${first.text} and ${second.text}`;
  }

  private timeProblem(program: string, first: Answer): string | undefined {
    const { compilation, evaluation } = this.statistics;
    if (first.compilationMs <= compilation.ms && first.evaluationMs <= evaluation.ms) return undefined;
    // The first time includes other programs of the machine, the collection of garbage and JavaScript's own compilation.
    const answers = [first, ...Array.from({ length: 3 }, () => this.answer(program))];
    const { compilationMsMax, evaluationMsMax } = this.limits;
    const compilationMs = Math.min(...answers.map((each) => each.compilationMs));
    const evaluationMs = Math.min(...answers.map((each) => each.evaluationMs));
    const slowest = { cost: first.cost, program };
    if (compilationMs > compilation.ms) this.statistics.compilation = { ms: compilationMs, ...slowest };
    if (evaluationMs > evaluation.ms) this.statistics.evaluation = { ms: evaluationMs, ...slowest };
    if (compilationMs > compilationMsMax * Math.max(1, program.length / 10_000))
      return `is compiled in ${compilationMs.toFixed()} ms`;
    return evaluationMs > evaluationMsMax
      ? `is evaluated in ${evaluationMs.toFixed()} ms; its cost is ${first.cost}`
      : undefined;
  }

  private answer(program: string): Answer {
    const { statistics } = this;
    let compiled: ReturnType<Environment['compile']> | undefined;
    const compilationMs = cpuMs(() => (compiled = this.environment.compile(program)));
    const ofCompilation = { cost: 0, compilationMs, evaluationMs: 0 };
    if (!compiled!.isOk) return { text: compiled!.message, ...ofCompilation };
    statistics.compiled++;
    const { resultType, estimatedCost, program: planned } = compiled!;
    const head = `${resultType.toString()} ${estimatedCost.min} ${estimatedCost.max}`;
    if (planned instanceof Error) return { text: `${head} ${planned.message}`, ...ofCompilation };
    let evaluated: Outcome | undefined;
    const evaluationMs = cpuMs(() => (evaluated = planned.evaluate(this.bindings, { costLimit })));
    const outcome = evaluated!;
    const { cost, steps } = outcome;
    const spent = { cost, compilationMs, evaluationMs };
    statistics.evaluated++;
    if (!outcome.isOk) {
      statistics[outcome.isOverLimit ? 'overLimit' : 'errors']++;
      const problem = isTypeError(outcome.error) && isFullyTyped(program) ? `unsound: ${outcome.error}` : undefined;
      return { text: `${head} ${cost} ${steps} ${outcome.error}`, ...spent, problem };
    }
    const fits = !isFullyTyped(program) || conforms(outcome.value, resultType);
    const problem = fits ? undefined : `${shownShortly(outcome.value)} is no ${resultType.toString()}`;
    return { text: `${head} ${cost} ${steps} ${shownShortly(outcome.value)}`, ...spent, problem };
  }
}

interface Answer {
  readonly text: string;
  readonly cost: number;
  readonly compilationMs: number;
  readonly evaluationMs: number;
  readonly problem?: string | undefined;
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
