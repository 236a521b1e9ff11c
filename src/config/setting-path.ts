/** Returns the property at a path as `storage.etcd.servers`; undefined if a part of the path is absent. */
export function settingAt(config: object, path: string): unknown {
  return path.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], config);
}

/** Sets the property at a path. */
export function setSettingAt(config: object, path: string, value: unknown): void {
  const end = path.lastIndexOf('.');
  const parent = end < 0 ? config : settingAt(config, path.slice(0, end));
  (parent as Record<string, unknown>)[path.slice(end + 1)] = value;
}
