-- camarb's part of WirePlumber (0.4, as in Debian 12): links each program that wants one of camarb's cameras to the node that
-- camagent keeps for that program alone.
--
-- One node in PipeWire sends the same picture to all that are linked to it. So a camera is a doorway, which programs find and
-- choose and which shows slates only, and for each program that means it camagent has a private node, which says in
-- node.camarb.consumer whose it is. Where this script does not run, programs are linked to the doorway, and see slates.
--
--     registered, not active yet ──means a doorway──▶ held ──its private node is there──▶ linked to that
--                                                       │
--                                                       ├──for 5 s there is none──▶ linked to the doorway, until there is
--                                                       └──it means something else──▶ WirePlumber's again
--
-- WirePlumber's own linking (policy-node.lua) leaves alone what does not ask to be linked by it (node.autoconnect), and looks
-- at an item only once that is active. An item is registered before that, and there it is configured anew.

-- How long a program waits for its private node, and how long one whose target is not known yet is held: a doorway may be
-- about to appear, with which the program was given its number. In milliseconds.
local PRIVATE_NODE_TIME = 5000
local TARGET_TIME = 500
-- A link that fails is tried again, so often and no more, and then as often with the doorway.
local LINK_TRIES = 5
local LINK_PAUSE = 200

-- Not local: an object manager that nothing else holds is collected.
camarb = {
  default_nodes = Plugin.find("default-nodes-api"),
  metadata = ObjectManager {
    Interest { type = "metadata", Constraint { "metadata.name", "=", "default" } },
  },
  items = ObjectManager {
    Interest { type = "SiLinkable", Constraint { "item.factory.name", "=", "si-node" } },
  },
  links = ObjectManager {
    Interest { type = "SiLink", Constraint { "is.policy.item.link", "=", true } },
  },
  clients = ObjectManager {
    Interest { type = "client", Constraint { "pipewire.access", "=", "portal" } },
  },
  -- By the item's id, which no other item is given: what is held, and why a link was not made.
  held = {},
  failures = {},
  -- Held ones for which there was no private node in time.
  overdue = {},
}

local ACTIVE = Constraint { "active-features", "!", 0, type = "gobject" }

-- What a program asks for, as WirePlumber reads it: the metadata before the program's own words. The key, and the value.
local function targetOf(properties)
  local metadata = camarb.metadata:lookup()
  local id = properties["node.id"]
  if metadata then
    local object = metadata:find(id, "target.object")
    if object then return "object.serial", object end
    local node = metadata:find(id, "target.node")
    if node then return "node.id", node end
  end
  if properties["target.object"] then return "object.serial", properties["target.object"] end
  if properties["node.target"] then return "node.id", properties["node.target"] end
  local default = camarb.default_nodes and camarb.default_nodes:call("get-default-node", "Video/Source")
  if default and default ~= 4294967295 then return "node.id", tostring(default) end
end

local function privateNodeOf(properties)
  return camarb.items:lookup { Constraint { "node.camarb.consumer", "=", properties["node.id"] } }
end

-- The item that a program means; nil: it is not there (yet). And whether it means any.
local function meant(properties)
  local key, value = targetOf(properties)
  if not value or value == "-1" then return nil, false end
  for item in camarb.items:iterate { Constraint { "item.node.direction", "=", "output" } } do
    local other = item.properties
    if other[key] == value or other["node.name"] == value or other["object.path"] == value then return item, true end
  end
  return nil, true
end

-- The doorway that an item is, or is behind, by its name. An item that means another's private node means the doorway: what
-- is shown there is for one program alone.
local function doorwayNameOf(item)
  local properties = item.properties
  if properties["node.camarb.doorway"] == "true" then return properties["node.name"] end
  return properties["node.camarb.camera"]
end

-- true: a doorway of ours; false: something else, or nothing; nil: what it means is not there (yet).
local function meansDoorway(properties)
  -- camagent has looked as well, also before it was restarted, when numbers of nodes were others.
  if privateNodeOf(properties) then return true end
  local item, means = meant(properties)
  if not means then return false end
  if not item then return nil end
  return doorwayNameOf(item) ~= nil
end

local function isStillThere(item)
  return camarb.items:lookup { Constraint { "id", "=", item.id, type = "gobject" } } ~= nil
end

local function after(milliseconds, work)
  Core.timeout_add(milliseconds, function() work() return false end)
end

local function linkOf(item)
  return camarb.links:lookup { Constraint { "in.item.id", "=", item.id } }
end

local linkAll

-- Whom a portal lets in, WirePlumber shows all cameras (access-portal.lua, whose rule this is), doorways among them, and nothing else.
-- PipeWire (since 0.3.77) links no program to what it may not see.
local function showTo(input, private)
  local node = input:get_associated_proxy("node")
  local client = node and camarb.clients:lookup {
    Constraint { "bound-id", "=", tonumber(node.properties["client.id"]), type = "gobject" },
  }
  if not client then return end
  local app = client.properties["pipewire.access.portal.app_id"]
  local roles = client.properties["pipewire.access.portal.media_roles"]
  if app == "" or (app and roles and roles:find("Camera", 1, true)) then
    client:update_permissions { [private:get_associated_proxy("node")["bound-id"]] = "r" }
  end
end

local function link(output, input)
  local made = SessionItem("si-standard-link")
  local isConfigured = made:configure {
    ["out.item"] = output,
    ["in.item"] = input,
    ["passive"] = false,
    ["passthrough"] = false,
    ["exclusive"] = false,
    ["out.item.port.context"] = "output",
    ["in.item.port.context"] = "input",
    -- WirePlumber takes it away with either end.
    ["is.policy.item.link"] = true,
  }
  if not isConfigured then
    Log.warning(made, "camarb: a link cannot be configured")
    return
  end
  local id = input.id
  made:register()
  made:activate(Feature.SessionItem.ACTIVE, function(item, failure)
    if not failure then
      camarb.failures[id] = nil
      return
    end
    camarb.failures[id] = (camarb.failures[id] or 0) + 1
    Log.warning(item, "camarb: a link was not made: " .. tostring(failure))
    item:remove()
    after(LINK_PAUSE, linkAll)
  end)
end

-- The doorway that an item means, for one that has waited long enough for a node of its own.
local function doorwayOf(properties)
  local item = meant(properties)
  local name = item and doorwayNameOf(item)
  if not name then return end
  item = camarb.items:lookup {
    Constraint { "node.name", "=", name }, Constraint { "node.camarb.doorway", "=", "true" },
  }
  if item and item["active-features"] ~= 0 then return item end
end

linkAll = function()
  for input in camarb.items:iterate { Constraint { "item.node.direction", "=", "input" }, ACTIVE } do
    local id = input.id
    local failures = camarb.failures[id] or 0
    local output, old = privateNodeOf(input.properties), linkOf(input)
    -- Its own node has come after all: camagent was not there for a while, or knew as many streams as it can. Browsers go on
    -- with another link; GStreamer 1.22 stops.
    if camarb.held[id] and old and failures < LINK_TRIES and output and output["active-features"] ~= 0
      and old.properties["out.item.id"] ~= tostring(output.id) then
      old:remove()
      old = nil
    end
    if camarb.held[id] and not old and failures < 2 * LINK_TRIES then
      if (not output and camarb.overdue[id]) or failures >= LINK_TRIES then
        output = doorwayOf(input.properties)
      elseif output and output["active-features"] == 0 then
        output = nil
      end
      if output then
        if output.properties["node.camarb.consumer"] then showTo(input, output) end
        link(output, input)
      end
    end
  end
end

-- Back to WirePlumber's own linking, as if it had never been held.
local function giveBack(item, properties)
  camarb.held[item.id] = nil
  properties["node.autoconnect"] = "true"
  item:remove()
  item:configure(properties)
  item:activate(Features.ALL, function(given, failure)
    if not failure then given:register() end
  end)
end

local function isNewConsumer(item, properties)
  return item["active-features"] == 0
    and properties["item.node.type"] == "stream"
    and properties["item.node.direction"] == "input"
    and properties["media.type"] == "Video"
    and properties["node.autoconnect"] == "true"
end

local function look(item)
  local properties = item.properties
  if not isNewConsumer(item, properties) then return end
  local isOurs = meansDoorway(properties)
  if isOurs == false then return end
  -- What an item was configured with it does not give back by itself.
  properties["item.node"] = item:get_associated_proxy("node")
  properties["node.autoconnect"] = "false"
  camarb.held[item.id] = item:configure(properties)
  Log.info(item, "camarb: holds " .. tostring(properties["node.id"]))
  if isOurs == nil then
    after(TARGET_TIME, function()
      if isStillThere(item) and not meansDoorway(properties) then giveBack(item, properties) end
    end)
  end
  after(PRIVATE_NODE_TIME, function()
    if not camarb.held[item.id] or not isStillThere(item) then return end
    camarb.overdue[item.id] = true
    linkAll()
  end)
end

camarb.items:connect("object-added", function(_, item)
  look(item)
  linkAll()
end)

camarb.items:connect("object-removed", function(_, item)
  -- An item is registered anew as it becomes active: it is gone when it does not come back.
  after(PRIVATE_NODE_TIME, function()
    if isStillThere(item) then return end
    camarb.held[item.id], camarb.overdue[item.id], camarb.failures[item.id] = nil, nil, nil
  end)
end)

-- By this camagent knows that somebody links programs to their nodes, and tells its user where nobody does.
camarb.metadata:connect("object-added", function(_, metadata)
  metadata:set(0, "camarb.linking", "", "camarb.lua")
end)

camarb.metadata:activate()
camarb.clients:activate()
camarb.links:activate()
camarb.items:activate()
