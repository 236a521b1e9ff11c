import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';

/** Keys of values that a server chooses. */
const chosenKeys = new Set(['uid', 'clusterIP', 'clusterIPs', 'continue']);
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const word = /[A-Za-z0-9][A-Za-z0-9.:_-]*/g;
/** The oldest values are forgotten. */
const valuesMax = 500_000;

/** The values that another server has chosen in place of recorded ones: uids, resourceVersions, generated names, addresses. */
export class CapturedValues {
  private readonly values = new Map<string, string>();
  private readonly versions = new Map<string, string>();

  /** Compares a recorded answer with the new one, and keeps what the servers have chosen. */
  capture(recorded: JsonValue | undefined, actual: JsonValue | undefined, key = ''): void {
    if (typeof recorded === 'string' && typeof actual === 'string') {
      if (key === 'resourceVersion') keep(this.versions, recorded, actual);
      else if (chosenKeys.has(key) && recorded !== '') keep(this.values, recorded, actual);
    } else if (Array.isArray(recorded) && Array.isArray(actual)) {
      recorded.forEach((item, i) => this.capture(item, actual[i], key));
    } else if (isJsonObject(recorded) && isJsonObject(actual)) {
      if (typeof recorded['generateName'] === 'string') this.captureName(recorded, actual);
      for (const [name, value] of Object.entries(recorded)) {
        if (Object.hasOwn(actual, name)) this.capture(value, actual[name], name);
      }
    }
  }

  /** Returns a copy for the other server. */
  translate(value: JsonValue, key = ''): JsonValue {
    if (typeof value === 'string') return key === 'resourceVersion' ? this.version(value) : this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.translate(item, key));
    if (!isJsonObject(value)) return value;
    const path = value['path'];
    const isVersionPatch = typeof path === 'string' && path.endsWith('/resourceVersion');
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        this.translate(one, isVersionPatch && name === 'value' ? 'resourceVersion' : name),
      ]),
    );
  }

  translatePath(path: string): string {
    const [bare = '', query] = path.split(/\?(.*)/s);
    const translated = bare.split('/').map((segment) => this.segment(segment));
    if (query === undefined) return translated.join('/');
    const pairs = query.split('&').map((pair) => {
      const [name = '', value] = pair.split(/=(.*)/s);
      if (value === undefined) return pair;
      const mapped = name === 'resourceVersion' ? this.version(value) : this.segment(value);
      return `${name}=${mapped}`;
    });
    return `${translated.join('/')}?${pairs.join('&')}`;
  }

  private captureName({ name }: JsonObject, { name: actual }: JsonObject): void {
    if (typeof name === 'string' && name !== '' && typeof actual === 'string') keep(this.values, name, actual);
  }

  private version(text: string): string {
    return this.versions.get(text) ?? text;
  }

  private text(text: string): string {
    const whole = this.values.get(text);
    if (whole !== undefined) return whole;
    return text.replace(uuid, (id) => this.values.get(id) ?? id).replace(word, (one) => this.values.get(one) ?? one);
  }

  /** A part of a URL, which may be encoded. */
  private segment(segment: string): string {
    let decoded: string;
    try {
      decoded = decodeURIComponent(segment);
    } catch {
      return segment;
    }
    const translated = this.text(decoded);
    return translated === decoded ? segment : encodeURIComponent(translated);
  }
}

function keep(values: Map<string, string>, recorded: string, actual: string): void {
  if (values.has(recorded)) return;
  if (values.size >= valuesMax) values.delete(values.keys().next().value!);
  values.set(recorded, actual);
}
