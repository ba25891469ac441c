/** A table as kubectl prints it: columns as wide as their widest cell, three spaces between them. */
export function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    header
      .map((_, column) => (cells[column] ?? '').padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd();
  return [header, ...rows].map(line);
}

/** `8s`, `3m5s`, `2h`, `4d`: an age in kubectl's way. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
