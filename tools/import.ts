/** `npm run import`: writes imports/ anew from the kinds in crds/. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bindingsFolder, generateBindings } from './bindings.ts';

// Everything is made before anything is written: a kind that does not import leaves the folder as it was.
const files = await generateBindings();
await mkdir(bindingsFolder, { recursive: true });
for (const name of await readdir(bindingsFolder)) if (!files.has(name)) await rm(join(bindingsFolder, name));
for (const [name, text] of files) await writeFile(join(bindingsFolder, name), text);
console.log([...files.keys()].map((name) => `wrote imports/${name}`).join('\n'));
