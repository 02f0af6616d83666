#include "elf/elf_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "elf/elf_file.h"

#define HOOK_SYMBOL "whet_profile_hook"

static void unmap(struct file_map *m)
{
	file_unmap(m);
}
#define auto_map __attribute__((cleanup(unmap)))

void elf_facts_release(struct elf_facts *f)
{
	free(f->machine);
	free(f->build_id);
	free(f->names_sha256);
	free(f->glibc_floor);
	free(f->soname);
	strv_release(&f->profile_marks);
	strv_release(&f->needed);
	memset(f, 0, sizeof(*f));
}

static char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} known[] = {
		{EM_X86_64, "x86_64"},
		{EM_AARCH64, "aarch64"},
		{EM_386, "i386"},
		{EM_ARM, "arm"},
		{EM_RISCV, "riscv"},
		{EM_PPC64, "ppc64"},
		{EM_S390, "s390x"},
	};

	for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
		if (known[k].machine == machine)
			return xstrdup(known[k].name);
	}
	return xasprintf("machine-%u", machine);
}

static bool has_prefix(const char *s, const char *const *prefixes, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (strncmp(s, prefixes[k], strlen(prefixes[k])) == 0)
			return true;
	}
	return false;
}

/* Sections that BOLT leaves in every binary it has laid out (.bolt.org.*, .note.bolt_info) are no
 * marks of its runtime. */
static bool marks_section(const char *name)
{
	static const char *const prefixes[] = {"__llvm_prf_", "__wr08_prf_", "__wr09_prf_",
		"__wr10_prf_", ".bolt.instr", "__llvm_orderfile"};

	return has_prefix(name, prefixes, ARRAY_SIZE(prefixes));
}

static bool marks_symbol(const char *name)
{
	static const char *const prefixes[] = {"__llvm_profile_", "__wr08_", "__wr09_", "__wr10_",
		"__llvm_gcov_", "__gcov_", "__profc_", "__profd_", "__bolt_instr", "__bolt_runtime",
		HOOK_SYMBOL};

	return has_prefix(name, prefixes, ARRAY_SIZE(prefixes));
}

static void add_mark(struct elf_facts *f, const char *what, const char *name)
{
	auto_free char *mark = xasprintf("%s %s", what, name);

	if (!strv_has(&f->profile_marks, mark))
		strv_take(&f->profile_marks, take_ptr(mark));
}

static void read_symbols(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_facts *f)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(d, (int)k, &s) || GELF_ST_TYPE(s.st_info) == STT_SECTION)
			continue;
		name = elf_symbol_name(i, head, &s);
		/* A weak reference that nothing answers is no runtime. */
		if (s.st_shndx == SHN_UNDEF && GELF_ST_BIND(s.st_info) == STB_WEAK)
			continue;
		if (marks_symbol(name))
			add_mark(f, "symbol", name);
		if (s.st_shndx != SHN_UNDEF && strcmp(name, HOOK_SYMBOL) == 0)
			f->has_hook = true;
	}
}

/* Compares "2.4" with "2.34" as versions. */
static int version_compare(const char *a, const char *b)
{
	unsigned v[2][3] = {{0}};

	sscanf(a, "%u.%u.%u", &v[0][0], &v[0][1], &v[0][2]);
	sscanf(b, "%u.%u.%u", &v[1][0], &v[1][1], &v[1][2]);
	for (int k = 0; k < 3; k++) {
		if (v[0][k] != v[1][k])
			return v[0][k] < v[1][k] ? -1 : 1;
	}
	return 0;
}

static void raise_floor(struct elf_facts *f, const char *version)
{
	const char *v = NULL;

	if (strncmp(version, "GLIBC_2.", 8) == 0)
		v = version + 6;
	else if (strcmp(version, "GLIBC_ABI_DT_RELR") == 0)
		v = "2.36";
	if (!v || (f->glibc_floor && version_compare(v, f->glibc_floor) <= 0))
		return;
	free(f->glibc_floor);
	f->glibc_floor = xstrdup(v);
}

/* The chains come from the file: offsets must grow, so that they end. */
static void read_version_needs(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_facts *f)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t at = 0;
	GElf_Verneed need;

	while (d && at < d->d_size && gelf_getverneed(d, (int)at, &need)) {
		size_t aux_at = at + need.vn_aux;
		GElf_Vernaux aux;

		for (unsigned k = 0; k < need.vn_cnt && aux_at < d->d_size; k++) {
			const char *name;

			if (!gelf_getvernaux(d, (int)aux_at, &aux))
				break;
			name = elf_strptr(i->elf, head->sh_link, aux.vna_name);
			if (name)
				raise_floor(f, name);
			if (!aux.vna_next)
				break;
			aux_at += aux.vna_next;
		}
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
}

static void read_dynamic(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_facts *f)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = d ? elf_entries(head, d) : 0;

	for (size_t k = 0; k < n; k++) {
		const char *name;
		GElf_Dyn e;

		if (!gelf_getdyn(d, (int)k, &e) || e.d_tag == DT_NULL)
			return;
		if (e.d_tag != DT_NEEDED && e.d_tag != DT_SONAME)
			continue;
		name = elf_strptr(i->elf, head->sh_link, e.d_un.d_val);
		if (name && e.d_tag == DT_NEEDED)
			strv_add(&f->needed, name);
		else if (name && !f->soname)
			f->soname = xstrdup(name);
	}
}

static void read_notes(Elf_Scn *scn, struct elf_facts *f)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t at = 0, next, name_at, desc_at;
	GElf_Nhdr note;

	while (d && at < d->d_size && (next = gelf_getnote(d, at, &note, &name_at, &desc_at)) > 0) {
		const uint8_t *p = d->d_buf;

		if (!f->build_id && note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp(p + name_at, "GNU", 4) == 0 && note.n_descsz <= 64) {
			auto_buf struct buf hex = BUF_INIT;

			for (size_t k = 0; k < note.n_descsz; k++)
				buf_addf(&hex, "%02x", p[desc_at + k]);
			f->build_id = buf_detach(&hex);
		}
		at = next;
	}
}

/* A stripped gcov runtime has no section or symbol of its own; its messages stay. The text is put
 * together here so that whet does not hold it itself and can be judged by whet. */
static void search_gcov(Elf_Scn *scn, const GElf_Shdr *head, struct elf_facts *f)
{
	size_t n;
	const uint8_t *p = elf_section_bytes(scn, head, &n);

	for (int i = 0; n && i < 2; i++) {
		/* gcc's runtime, then clang's */
		auto_free char *text = xasprintf("%s:%s%%s:", "profiling", i ? " " : "");

		if (memmem(p, n, text, strlen(text)))
			add_mark(f, "text of the gcov runtime:", text);
	}
}

/* Of objects that have a runtime of their own (wrap/retag.h). */
static bool is_other_names(const char *name)
{
	static const char end[] = "_prf_names";
	size_t n = strlen(name), k = sizeof(end) - 1;

	return n == 6 + k && memcmp(name, "__wr", 4) == 0 && memcmp(name + 6, end, k) == 0;
}

static void read_prf_section(
	Elf_Scn *scn, const GElf_Shdr *head, const char *name, struct elf_facts *f)
{
	char hex[SHA256_HEX];
	size_t n;
	const uint8_t *p;

	if (strcmp(name, "__llvm_prf_data") == 0)
		f->prf_data_bytes = head->sh_size;
	if (strcmp(name, "__llvm_prf_names") == 0 || is_other_names(name)) {
		char *before = f->names_sha256;

		p = elf_section_bytes(scn, head, &n);
		sha256_of(p, n, hex);
		f->names_sha256 = before ? xasprintf("%s+%s", before, hex) : xstrdup(hex);
		free(before);
	}
}

static void read_section(
	const struct elf_image *i, Elf_Scn *scn, const GElf_Shdr *head, struct elf_facts *f)
{
	const char *name = elf_section_name(i, head);

	if (marks_section(name))
		add_mark(f, "section", name);
	read_prf_section(scn, head, name, f);
	if (strcmp(name, ".rodata") == 0)
		search_gcov(scn, head, f);
	switch (head->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
		read_symbols(i, scn, head, f);
		break;
	case SHT_GNU_verneed:
		read_version_needs(i, scn, head, f);
		break;
	case SHT_DYNAMIC:
		read_dynamic(i, scn, head, f);
		break;
	case SHT_NOTE:
		read_notes(scn, f);
		break;
	default:
		break;
	}
}

int elf_facts_read(const char *path, struct elf_facts *ret, struct error *err)
{
	auto_map struct file_map m = {0};
	auto_elf struct elf_image i = {0};
	struct elf_facts f = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	size_t sections = 0;

	if (file_map(path, &m, err) < 0)
		return -1;
	if (elf_image_open(m.p, m.n, &i, err) < 0)
		return error_context(err, "'%s'", path);
	f.relocatable = i.head.e_type == ET_REL;
	f.shared = i.head.e_type == ET_DYN;
	f.executable = i.head.e_type == ET_EXEC;
	f.machine = machine_name(i.head.e_machine);
	while ((scn = elf_nextscn(i.elf, scn))) {
		if (!gelf_getshdr(scn, &head))
			continue;
		sections++;
		f.executable = f.executable ||
			       (f.shared && strcmp(elf_section_name(&i, &head), ".interp") == 0);
		read_section(&i, scn, &head, &f);
	}
	f.no_sections = sections == 0;
	strv_sort(&f.profile_marks);
	*ret = f;
	return 0;
}

int elf_text_hash(const char *path, char hash[65], struct error *err)
{
	auto_map struct file_map m = {0};
	auto_elf struct elf_image i = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	size_t n;

	if (file_map(path, &m, err) < 0)
		return -1;
	if (elf_image_open(m.p, m.n, &i, err) < 0)
		return error_context(err, "'%s'", path);
	while ((scn = elf_nextscn(i.elf, scn))) {
		const uint8_t *p;

		if (!gelf_getshdr(scn, &head) || strcmp(elf_section_name(&i, &head), ".text") != 0)
			continue;
		p = elf_section_bytes(scn, &head, &n);
		if (!n)
			return error_set(
				err, ERR_CORRUPT, "'%s': section .text has no bytes", path);
		sha256_of(p, n, hash);
		return 0;
	}
	return error_set(err, ERR_CORRUPT, "'%s' has no section .text", path);
}
