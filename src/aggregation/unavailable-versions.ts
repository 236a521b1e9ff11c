/** Counts of aggregator_unavailable_apiservice and aggregator_unavailable_apiservice_total. */
export class UnavailableVersions {
  /** True for an APIService that is not available. */
  readonly current = new Map<string, boolean>();
  /** Changes to unavailable, by APIService and reason. */
  readonly changes = new Map<string, Map<string, number>>();

  /** `changed` is true if the APIService was available before. */
  set(name: string, isAvailable: boolean, reason: string, changed: boolean): void {
    this.current.set(name, !isAvailable);
    if (isAvailable || !changed) return;
    const reasons = this.changes.get(name) ?? new Map<string, number>();
    this.changes.set(name, reasons);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }

  forget(name: string): void {
    this.current.delete(name);
    this.changes.delete(name);
  }
}
