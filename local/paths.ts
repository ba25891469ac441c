/** Where local programs and clusters live: one folder below the user's cache. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** `${XDG_CACHE_HOME:-~/.cache}/reprise`. A relative XDG_CACHE_HOME is ignored, as the XDG specification demands. */
export function cacheRoot(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.cache'), 'reprise');
}
