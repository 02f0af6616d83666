#include "table.h"

#include <stdexcept>

static std::size_t hash(const std::string &text)
{
	std::size_t h = 5381;

	for (char c : text)
		h = h * 33 + static_cast<unsigned char>(c);
	return h;
}

HashedTable::HashedTable() : buckets(64)
{
}

void HashedTable::add(const std::string &text)
{
	auto &bucket = buckets[hash(text) % buckets.size()];

	for (auto &word : bucket) {
		if (word.text == text) {
			word.count++;
			return;
		}
	}
	bucket.push_back({text, 1});
	n++;
}

std::size_t HashedTable::size() const
{
	return n;
}

const Word &HashedTable::first() const
{
	const Word *best = nullptr;

	for (const auto &bucket : buckets)
		for (const auto &word : bucket)
			if (!best || word.count > best->count ||
				(word.count == best->count && word.text < best->text))
				best = &word;
	if (!best)
		throw std::out_of_range("no word");
	return *best;
}
